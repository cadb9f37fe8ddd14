package tollbooth.web;

import java.net.URI;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.http.HttpHeaders;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;
import org.springframework.web.client.RestClientResponseException;
import tollbooth.workload.CallHead;
import tollbooth.workload.CallPath;
import tollbooth.workload.Overrides;
import tollbooth.workload.Target;

/** Calls nodes of kind svc-a. A thread waits for each answer. */
final class RestPeers implements PeerProtocol {

  private final RestClient client;
  private final AsyncTaskExecutor executor;
  private final PeerAddresses addresses;
  private final Map<Target, URI> uris = new ConcurrentHashMap<>();

  RestPeers(RestClient client, AsyncTaskExecutor executor, PeerAddresses addresses) {
    this.client = client;
    this.executor = executor;
    this.addresses = addresses;
  }

  @Override
  public byte[] call(Target target, CallHead head) {
    try {
      return client
          .get()
          .uri(uris.computeIfAbsent(target, this::uri))
          .headers(headers -> write(head, headers))
          .retrieve()
          .body(byte[].class);
    } catch (RestClientResponseException answered) {
      throw new PeerFailedException(target, "answered " + answered.getStatusCode().value());
    } catch (RestClientException unanswered) {
      throw new PeerFailedException(target, "did not answer: " + unanswered.getMessage());
    }
  }

  /** Cancelling does not stop the call: its thread ends when the peer has answered. */
  @Override
  public CompletableFuture<?> start(Target target, CallHead head) {
    return CompletableFuture.supplyAsync(() -> call(target, head), executor);
  }

  private URI uri(Target target) {
    return addresses.of(target.node()).resolve("/op/" + target.operation());
  }

  private static void write(CallHead head, HttpHeaders headers) {
    headers.set(CallPath.HEADER, head.path().text());
    Overrides overrides = head.overrides();
    overrides
        .latencyMs()
        .ifPresent(ms -> headers.set(Overrides.LATENCY_HEADER, Integer.toString(ms)));
    overrides
        .errorProbability()
        .ifPresent(
            probability -> headers.set(Overrides.PROBABILITY_HEADER, probability.toString()));
  }
}
