"""The files of a results folder: models, readers and writers."""
