package tollbooth.telemetry.streaming;

import tollbooth.telemetry.recorder.Ledger;

/** What all spans of a provider share. */
record Pipeline(
    Sampler sampler,
    Limits limits,
    WireFormat format,
    RecordingPool recordings,
    SpanQueue queue,
    Ledger ledger) {}
