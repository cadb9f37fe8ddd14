package tollbooth.telemetry.contract;

/**
 * A finished span, as every library can tell it.
 *
 * @param trace the trace's id
 * @param id the span's own id
 * @param parent the parent's id; null for none
 * @param kind {@code SERVER}, {@code CLIENT}, or what else the library has
 */
public record RecordedSpan(String trace, String id, String parent, String kind) {}
