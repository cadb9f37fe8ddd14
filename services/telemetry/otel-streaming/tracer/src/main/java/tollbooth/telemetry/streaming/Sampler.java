package tollbooth.telemetry.streaming;

import io.opentelemetry.api.trace.SpanContext;

/**
 * Decides whether a span is sampled. The standard samplers: none adds attributes or trace state.
 */
@FunctionalInterface
interface Sampler {

  Sampler ALWAYS_ON = (parent, traceLow) -> true;
  Sampler ALWAYS_OFF = (parent, traceLow) -> false;

  /**
   * Decides.
   *
   * @param parent what the decision may follow
   * @param traceLow the lower half of the trace's id
   */
  boolean samples(Parent parent, long traceLow);

  /** What a sampler sees of a span's parent. */
  enum Parent {
    NONE,
    SAMPLED,
    UNSAMPLED;

    static Parent of(SpanContext context) {
      if (!context.isValid()) {
        return NONE;
      }
      return context.isSampled() ? SAMPLED : UNSAMPLED;
    }
  }

  /**
   * Samples a part of all traces, the same in every process.
   *
   * @param ratio from 0 to 1
   */
  static Sampler ratio(double ratio) {
    // The least long stays negative without its sign: at 0 nothing is below the bound.
    long bound =
        ratio == 0 ? Long.MIN_VALUE : ratio == 1 ? Long.MAX_VALUE : (long) (ratio * Long.MAX_VALUE);
    return (parent, traceLow) -> Math.abs(traceLow) < bound;
  }

  /** Follows the parent; a span without one is decided by {@code root}. */
  static Sampler parentBased(Sampler root) {
    return (parent, traceLow) ->
        parent == Parent.NONE ? root.samples(parent, traceLow) : parent == Parent.SAMPLED;
  }
}
