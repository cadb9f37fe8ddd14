package tollbooth.web;

import java.net.URI;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientException;
import org.springframework.web.client.RestClientResponseException;
import tollbooth.workload.CallPath;
import tollbooth.workload.Target;

/** Asks other nodes for their operations. */
public final class Peers {

  private final RestClient client;
  private final PeerAddresses addresses;
  private final Map<Target, URI> uris = new ConcurrentHashMap<>();

  Peers(RestClient client, PeerAddresses addresses) {
    this.client = client;
    this.addresses = addresses;
  }

  /**
   * Asks a peer and waits for its answer.
   *
   * @param target whom to ask for what
   * @param path names this call; it goes with the request
   * @return the answer's JSON
   * @throws PeerFailedException where the peer answers with an error, or not at all
   */
  public byte[] ask(Target target, CallPath path) {
    try {
      return client
          .get()
          .uri(uris.computeIfAbsent(target, this::uri))
          .header(CallPath.HEADER, path.text())
          .retrieve()
          .body(byte[].class);
    } catch (RestClientResponseException answered) {
      throw new PeerFailedException(target, "answered " + answered.getStatusCode().value());
    } catch (RestClientException unanswered) {
      throw new PeerFailedException(target, "did not answer: " + unanswered.getMessage());
    }
  }

  private URI uri(Target target) {
    return addresses.of(target.node()).resolve("/op/" + target.operation());
  }
}
