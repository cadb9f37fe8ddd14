"""The target jmh: a benchmark of services/benchmarks, in a JVM of its own."""
