"""Shared by all tests; being in the package `tests`, it also puts the repository on Python's path."""

import gc


def pytest_collection_finish() -> None:
    """Never look again for garbage in the modules and tests that were loaded: they stay to the end."""
    gc.collect()
    gc.freeze()
