package tollbooth.telemetry.streaming;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;

/**
 * What the epoch's time and that of {@link System#nanoTime} differ by. Reading both for each trace
 * would cost more than the rest of a span's start, and they drift slowly.
 */
final class EpochClock {

  /** For so long the difference is used again. */
  private static final long VALID_NANOS = Duration.ofMillis(10).toNanos();

  private static volatile Reading last = Reading.now();

  private EpochClock() {}

  /**
   * The epoch's time minus that of {@link System#nanoTime}.
   *
   * @param nowNanos of {@link System#nanoTime}
   */
  static long differenceNanos(long nowNanos) {
    Reading known = last;
    if (nowNanos - known.atNanos() > VALID_NANOS) {
      known = Reading.now();
      last = known;
    }
    return known.differenceNanos();
  }

  record Reading(long atNanos, long differenceNanos) {

    static Reading now() {
      return of(System::nanoTime, InstantSource.system());
    }

    /** Reads again if the thread may have lost the processor meanwhile. */
    static Reading of(LongSupplier nanoTime, InstantSource calendar) {
      for (int attempt = 1; ; attempt++) {
        long before = nanoTime.getAsLong();
        Instant epoch = calendar.instant();
        long apart = nanoTime.getAsLong() - before;
        if (apart < 20_000 || attempt == 3) {
          long nanos = before + apart / 2;
          return new Reading(
              nanos, Duration.ofSeconds(epoch.getEpochSecond(), epoch.getNano()).toNanos() - nanos);
        }
      }
    }
  }
}
