"""The report of a results folder; `build` makes it."""
