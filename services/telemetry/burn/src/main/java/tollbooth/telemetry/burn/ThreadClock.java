package tollbooth.telemetry.burn;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The CPU time of the kernel's thread that runs the caller. {@code ThreadMXBean} has the same
 * clock, but not for virtual threads. A virtual thread gets the time of its carrier. So the
 * difference of two readings is its own as long as it does not block between them: only then can it
 * change the carrier.
 *
 * <p>One instance per caller: it has a buffer for the answer.
 */
final class ThreadClock {

  /** {@code CLOCK_THREAD_CPUTIME_ID} of Linux. */
  private static final int OF_THREAD = 3;

  private static final MemoryLayout SECONDS_AND_NANOSECONDS =
      MemoryLayout.structLayout(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);

  private static final long SECOND_NS = 1_000_000_000;

  private static final MethodHandle READ =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("clock_gettime"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

  private final MemorySegment time = Arena.ofAuto().allocate(SECONDS_AND_NANOSECONDS);

  /**
   * Reads the clock, in nanoseconds.
   *
   * @throws IllegalStateException if the kernel has no such clock
   */
  long ns() {
    if (read() != 0) {
      throw new IllegalStateException("the kernel gives no CPU time of a thread");
    }
    return time.getAtIndex(ValueLayout.JAVA_LONG, 0) * SECOND_NS
        + time.getAtIndex(ValueLayout.JAVA_LONG, 1);
  }

  private int read() {
    try {
      return (int) READ.invokeExact(OF_THREAD, time);
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }
}
