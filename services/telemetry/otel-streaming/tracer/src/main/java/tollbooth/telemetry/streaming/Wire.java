package tollbooth.telemetry.streaming;

/**
 * What spans need on their way to the recorder.
 *
 * @param grouped whether spans of one scope share what precedes them; otherwise each has its own
 * @param recordings where their buffers go back to
 */
record Wire(WireFormat format, boolean grouped, RecordingPool recordings) {}
