"""What the Collector's records say: sampling by trace ID, swings, the capacity model, what the first error follows."""
