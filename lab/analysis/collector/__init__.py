"""What the records of a Collector under load say: pure functions over arrays."""
