package tollbooth.workload;

/**
 * Reproducible random draws: each is a function of seed, call path and node. The same request gets
 * the same failures in every trial and with every variant, in whatever order calls arrive. The
 * attempt is part of the path, so a retry has a draw of its own.
 */
public final class Draws {

  private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private final long state;

  /** Draws of one node under one seed. */
  public Draws(long seed, String node) {
    this.state = absorb(mix(seed + GOLDEN_GAMMA), node);
  }

  /** Whether the node fails this call, which it does with the given probability (0..1). */
  public boolean fails(CallPath path, double probability) {
    return uniform(path) < probability;
  }

  /** A number in [0, 1), uniform over paths: the 53 high bits that a double holds. */
  double uniform(CallPath path) {
    return (absorb(state, path.text()) >>> 11) * 0x1p-53;
  }

  private static long absorb(long state, String text) {
    long mixed = state;
    for (int i = 0; i < text.length(); i++) {
      mixed = mix((mixed ^ text.charAt(i)) + GOLDEN_GAMMA);
    }
    // The length last: without it, node "a1" with path "2" would draw as node "a" with path "12".
    return mix(mixed + text.length() * GOLDEN_GAMMA);
  }

  /**
   * SplitMix64's finaliser (Steele, Lea and Flood, "Fast splittable pseudorandom number
   * generators", OOPSLA 2014): every input bit flips every output bit with a probability near one
   * half.
   */
  private static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
