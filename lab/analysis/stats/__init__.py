"""The statistics: pure functions over arrays. docs/explanation/statistics.md says what is computed and why."""
