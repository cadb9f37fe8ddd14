"""Faults of the system under test: declared, scheduled, injected, verified from the data path, lifted (README.md)."""
