package tollbooth.svca;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import tollbooth.web.NodeFault;
import tollbooth.web.NodeSettings;
import tollbooth.web.PeerFailedException;
import tollbooth.web.Peers;
import tollbooth.workload.Behaviour;
import tollbooth.workload.Call;
import tollbooth.workload.CallHead;
import tollbooth.workload.Task;
import tollbooth.workload.UnknownOperationException;

/** Executes the node's operations. A request keeps its (virtual) thread. */
class Performer {

  private final String node;
  private final Behaviour behaviour;
  private final NodeFault fault;
  private final Peers peers;
  private final AsyncTaskExecutor executor;

  Performer(NodeSettings settings, NodeFault fault, Peers peers, AsyncTaskExecutor executor) {
    this.node = settings.name();
    this.behaviour = new Behaviour(settings.name(), settings.node(), settings.seed());
    this.fault = fault;
    this.peers = peers;
    this.executor = executor;
  }

  /**
   * Waits for the operation's latency, fails if drawn, then makes the operation's calls.
   *
   * @throws ResponseStatusException 404 for an unknown operation, 500 for a drawn failure, 502 if a
   *     peer fails
   */
  Answer perform(String operation, CallHead head) throws InterruptedException {
    Task task = task(operation, head);
    long startNs = System.nanoTime();
    Thread.sleep(task.latency());
    fault.ended(startNs, task.fails());
    if (task.fails()) {
      throw new ResponseStatusException(HttpStatus.INTERNAL_SERVER_ERROR, "a drawn failure");
    }
    for (List<Call> stage : task.stages()) {
      makeAll(stage, task);
    }
    return new Answer(node, operation, task.calls());
  }

  private Task task(String operation, CallHead head) {
    try {
      return behaviour.task(operation, head, fault.held());
    } catch (UnknownOperationException unknown) {
      throw new ResponseStatusException(HttpStatus.NOT_FOUND, unknown.getMessage());
    }
  }

  private void makeAll(List<Call> stage, Task task) {
    if (stage.size() == 1) {
      make(stage.getFirst(), task);
      return;
    }
    CompletableFuture<?>[] made =
        stage.stream()
            .map(call -> CompletableFuture.runAsync(() -> make(call, task), executor))
            .toArray(CompletableFuture<?>[]::new);
    try {
      // Waits for all, also if one fails: no call outlives its request.
      CompletableFuture.allOf(made).join();
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof PeerFailedException peer ? peer : failed;
    }
  }

  private void make(Call call, Task task) {
    peers.call(call.target(), task.head(call));
  }
}
