package tollbooth.telemetry.contract;

/**
 * A finished span, with what every library records.
 *
 * @param trace the trace's id
 * @param id the span's own id
 * @param parent the parent's id; null if it has none
 * @param kind {@code SERVER}, {@code CLIENT}, or another kind of the library
 */
public record RecordedSpan(String trace, String id, String parent, String kind) {}
