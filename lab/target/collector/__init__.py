"""The target collector: an OpenTelemetry Collector between a generator of spans and the lab's sink."""
