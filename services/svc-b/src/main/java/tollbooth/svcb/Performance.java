package tollbooth.svcb;

import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.springframework.core.task.TaskDecorator;
import tollbooth.web.NodeFault;
import tollbooth.web.Peers;
import tollbooth.workload.Call;
import tollbooth.workload.Task;

/** One call in progress. It continues on the thread of the timer or of a peer's answer. */
final class Performance extends CompletableFuture<Void> {

  private final Task task;
  private final Peers peers;
  private final NodeFault fault;
  private final TaskDecorator context;
  private final Iterator<List<Call>> stages;
  private long startNs;
  private Future<?> latency = CompletableFuture.completedFuture(null);
  private volatile List<CompletableFuture<?>> calls = List.of();

  Performance(Task task, Peers peers, NodeFault fault, TaskDecorator context) {
    this.task = task;
    this.peers = peers;
    this.fault = fault;
    this.context = context;
    this.stages = task.stages().iterator();
  }

  /** Starts. No other thread may have a reference to this object yet. */
  void start(ScheduledExecutorService timer) {
    startNs = System.nanoTime();
    if (task.latency().isZero()) {
      afterLatency();
      return;
    }
    Runnable next = context.decorate(this::afterLatency);
    latency = timer.schedule(next, task.latency().toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean cancelled = super.cancel(mayInterruptIfRunning);
    if (latency.cancel(false)) {
      fault.gaveUp();
    }
    giveCallsUp();
    return cancelled;
  }

  private void afterLatency() {
    fault.ended(startNs, task.fails());
    if (task.fails()) {
      completeExceptionally(new DrawnFailureException());
    } else {
      nextStage();
    }
  }

  private void nextStage() {
    if (isDone()) {
      return;
    }
    if (!stages.hasNext()) {
      complete(null);
      return;
    }
    Runnable next = context.decorate(this::nextStage);
    calls = stages.next().stream().<CompletableFuture<?>>map(this::make).toList();
    if (isCancelled()) {
      // Cancelled meanwhile; the other thread may have cancelled the stage before only.
      giveCallsUp();
    }
    // Waits for all, also if one fails: no call outlives its request.
    CompletableFuture.allOf(calls.toArray(CompletableFuture<?>[]::new))
        .whenComplete((nothing, failure) -> afterStage(next, failure));
  }

  private CompletableFuture<?> make(Call call) {
    try {
      return peers.start(call.target(), task.head(call));
    } catch (RuntimeException notStarted) {
      return CompletableFuture.failedFuture(notStarted);
    }
  }

  private void afterStage(Runnable next, Throwable failure) {
    if (failure == null) {
      next.run();
    } else {
      completeExceptionally(
          failure instanceof CompletionException wrapped ? wrapped.getCause() : failure);
    }
  }

  private void giveCallsUp() {
    calls.forEach(call -> call.cancel(true));
  }
}
