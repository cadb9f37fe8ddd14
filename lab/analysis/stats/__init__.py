"""The statistics: pure functions over arrays. docs/statistics.md says what is computed and why."""
