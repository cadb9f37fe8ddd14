"""The lab's Python tests; a package, so that folders can share `tests.synthetic`."""
