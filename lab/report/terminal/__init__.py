"""The terminal's rendering of the report's view models."""
