package tollbooth.benchmarks;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The CPU time of this process, from {@code clock_gettime} of Linux. The JDK's own counts in ticks
 * of 10 ms, which is half of what a second of some benchmarks costs.
 */
public final class ProcessCpu {

  private static final int CLOCK_PROCESS_CPUTIME_ID = 2;
  private static final long SECOND_NS = 1_000_000_000;
  private static final MethodHandle CLOCK_GETTIME =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("clock_gettime"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

  /** Seconds and nanoseconds. */
  private static final MemorySegment TIME = Arena.global().allocate(ValueLayout.JAVA_LONG, 2);

  private ProcessCpu() {}

  /** All threads' CPU time since the start, in nanoseconds. */
  public static synchronized long nanos() {
    try {
      int failed = (int) CLOCK_GETTIME.invokeExact(CLOCK_PROCESS_CPUTIME_ID, TIME);
      if (failed != 0) {
        throw new IllegalStateException("the process has no CPU clock");
      }
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable impossible) {
      throw new IllegalStateException(impossible);
    }
    return TIME.getAtIndex(ValueLayout.JAVA_LONG, 0) * SECOND_NS
        + TIME.getAtIndex(ValueLayout.JAVA_LONG, 1);
  }
}
