package tollbooth.svcb;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import org.springframework.core.task.TaskDecorator;
import tollbooth.web.NodeFault;
import tollbooth.web.Peers;
import tollbooth.workload.Task;

/** Does what calls make this node do. A call under way holds no thread. */
final class Performer implements AutoCloseable {

  private final Peers peers;
  private final NodeFault fault;
  private final TaskDecorator context;

  /** One thread ends every wait; what it then starts takes it some microseconds. */
  private final ScheduledThreadPoolExecutor timer =
      new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().name("latency").daemon().factory());

  /**
   * A node's performer.
   *
   * @param peers whom it calls
   * @param fault counts what it does
   * @param context makes what is done later part of the same trace, where a variant traces
   */
  Performer(Peers peers, NodeFault fault, TaskDecorator context) {
    this.peers = peers;
    this.fault = fault;
    this.context = context;
    timer.setRemoveOnCancelPolicy(true);
  }

  /**
   * Waits the task's latency, fails if it is to fail, then makes its calls.
   *
   * @return done when all calls have been answered; cancelling it stops what is left. Fails with
   *     {@link DrawnFailureException}, or with {@link tollbooth.web.PeerFailedException} at the
   *     first stage in which a peer fails
   */
  CompletableFuture<Void> perform(Task task) {
    Performance performance = new Performance(task, peers, fault, context);
    performance.start(timer);
    return performance;
  }

  /** How many calls wait their latency just now. */
  int waiting() {
    return timer.getQueue().size();
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
