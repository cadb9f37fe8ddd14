"""The experiment file: frozen models, and messages that name the place and the nearest valid name."""
