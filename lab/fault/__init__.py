"""Faults of the system under test: declared, scheduled, injected, proved from the data path, lifted (README.md)."""
