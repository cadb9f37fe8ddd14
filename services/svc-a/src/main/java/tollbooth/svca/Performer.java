package tollbooth.svca;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import tollbooth.web.NodeSettings;
import tollbooth.web.PeerFailedException;
import tollbooth.web.Peers;
import tollbooth.workload.Call;
import tollbooth.workload.CallPath;
import tollbooth.workload.CallPlan;
import tollbooth.workload.Draws;
import tollbooth.workload.Operation;

/** Does what the topology says of this node's operations. */
class Performer {

  private record Plan(Operation operation, List<List<Call>> stages, int calls) {

    static Plan of(Operation operation) {
      List<List<Call>> stages = CallPlan.of(operation);
      return new Plan(operation, stages, stages.stream().mapToInt(List::size).sum());
    }
  }

  private final String node;
  private final Map<String, Plan> plans;
  private final Draws draws;
  private final Peers peers;
  private final AsyncTaskExecutor executor;

  Performer(NodeSettings settings, Peers peers, AsyncTaskExecutor executor) {
    this.node = settings.name();
    this.plans =
        settings.node().operations().entrySet().stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> Plan.of(entry.getValue())));
    this.draws = new Draws(settings.seed(), settings.name());
    this.peers = peers;
    this.executor = executor;
  }

  /**
   * Waits the operation's latency, fails if this call is drawn to fail, then makes the operation's
   * calls.
   *
   * @throws ResponseStatusException 404 for an unknown operation, 500 for a drawn failure, 502
   *     where a peer fails
   */
  Answer perform(String name, CallPath path) throws InterruptedException {
    Plan plan = plans.get(name);
    if (plan == null) {
      throw new ResponseStatusException(
          HttpStatus.NOT_FOUND, "no operation '" + name + "'; there is: " + plans.keySet());
    }
    Thread.sleep(plan.operation().latency());
    if (draws.fails(path, plan.operation().errorProbability())) {
      throw new ResponseStatusException(HttpStatus.INTERNAL_SERVER_ERROR, "a drawn failure");
    }
    for (List<Call> stage : plan.stages()) {
      makeAll(stage, path);
    }
    return new Answer(node, name, plan.calls());
  }

  private void makeAll(List<Call> stage, CallPath path) {
    if (stage.size() == 1) {
      make(stage.getFirst(), path);
      return;
    }
    CompletableFuture<?>[] made =
        stage.stream()
            .map(call -> CompletableFuture.runAsync(() -> make(call, path), executor))
            .toArray(CompletableFuture<?>[]::new);
    try {
      // Ends when all have ended, also where one fails: no call outlives its request.
      CompletableFuture.allOf(made).join();
    } catch (CompletionException failed) {
      throw failed.getCause() instanceof PeerFailedException peer ? peer : failed;
    }
  }

  private void make(Call call, CallPath path) {
    peers.ask(call.target(), path.call(call.index()));
  }
}
