package tollbooth.svcb;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.springframework.core.task.TaskDecorator;
import tollbooth.web.NodeFault;
import tollbooth.web.Peers;
import tollbooth.workload.Task;

/** Executes the node's operations. A call in progress holds no thread. */
final class Performer implements AutoCloseable {

  private final Peers peers;
  private final NodeFault fault;
  private final TaskDecorator context;

  /** One thread ends every wait; what it then starts takes some microseconds. */
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name("latency").daemon().factory());

  /**
   * A node's performer.
   *
   * @param peers the nodes that it calls
   * @param fault counts the operations
   * @param context carries the trace context to later steps, if a variant traces
   */
  Performer(Peers peers, NodeFault fault, TaskDecorator context) {
    this.peers = peers;
    this.fault = fault;
    this.context = context;
    timer.setRemoveOnCancelPolicy(true);
  }

  /**
   * Waits for the task's latency, fails if drawn, then makes its calls.
   *
   * @return completes when all calls have been answered; cancelling it stops the rest. Fails with
   *     {@link DrawnFailureException}, or with {@link tollbooth.web.PeerFailedException} at the
   *     first stage in which a peer fails
   */
  CompletableFuture<Void> perform(Task task) {
    Performance performance = new Performance(task, peers, fault, context);
    performance.start(timer);
    return performance;
  }

  /** The number of calls that wait for their latency. */
  int waiting() {
    return timer.getQueue().size();
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
