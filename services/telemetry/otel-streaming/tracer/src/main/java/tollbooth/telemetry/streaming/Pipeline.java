package tollbooth.telemetry.streaming;

/** What all spans of a provider share. */
record Pipeline(
    Sampler sampler,
    Limits limits,
    WireFormat format,
    RecordingPool recordings,
    SpanQueue queue,
    Ledger ledger) {}
