"""Shared by all tests; being in the package `tests`, it also puts the repository on Python's path."""
