package tollbooth.benchmarks.spans;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;

/** Threads of a backend. Platform threads: the JVM gives no CPU time of a virtual one. */
final class CountedThreads implements ThreadFactory {

  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();

  private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();

  @Override
  public Thread newThread(Runnable work) {
    Thread thread = Thread.ofPlatform().daemon().name("loopback-backend").unstarted(work);
    threads.add(thread);
    return thread;
  }

  /** CPU time so far, in nanoseconds; a thread that has ended takes its share along. */
  long cpuNs() {
    return threads.stream()
        .mapToLong(thread -> Math.max(0, CLOCK.getThreadCpuTime(thread.threadId())))
        .sum();
  }
}
