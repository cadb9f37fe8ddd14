package tollbooth.web;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** CPU time since the start, from {@code clock_gettime} of Linux. */
public enum CpuClock {

  /**
   * Of all threads of this process. The JDK's own counts in ticks of 10 ms, which is half of what a
   * second of some benchmarks costs.
   */
  PROCESS(2),

  /**
   * Of the kernel's thread that runs the caller. {@code ThreadMXBean} has the same clock, but not
   * for virtual threads. A virtual thread gets the time of its carrier. So the difference of two
   * readings is its own as long as it does not block between them: only then can it change the
   * carrier.
   */
  THREAD(3);

  private static final long SECOND_NS = 1_000_000_000;
  private static final MethodHandle CLOCK_GETTIME =
      Linker.nativeLinker()
          .downcallHandle(
              Linker.nativeLinker().defaultLookup().findOrThrow("clock_gettime"),
              FunctionDescriptor.of(
                  ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));

  private final int id;

  CpuClock(int id) {
    this.id = id;
  }

  /**
   * Reads the clock, in nanoseconds.
   *
   * @throws IllegalStateException if the kernel has no such clock
   */
  public long ns() {
    try (Arena arena = Arena.ofConfined()) {
      // Seconds and nanoseconds.
      MemorySegment time = arena.allocate(ValueLayout.JAVA_LONG, 2);
      int failed = (int) CLOCK_GETTIME.invokeExact(id, time);
      if (failed != 0) {
        throw new IllegalStateException("the kernel has no CPU clock " + this);
      }
      return time.getAtIndex(ValueLayout.JAVA_LONG, 0) * SECOND_NS
          + time.getAtIndex(ValueLayout.JAVA_LONG, 1);
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
