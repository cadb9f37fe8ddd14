"""The target store: a Jaeger or a Zipkin that keeps the traces of a generator."""
