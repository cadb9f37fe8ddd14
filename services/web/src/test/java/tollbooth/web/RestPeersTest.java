package tollbooth.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.web.client.RestClient;
import tollbooth.web.testing.StubPeer;
import tollbooth.workload.CallHead;
import tollbooth.workload.CallPath;
import tollbooth.workload.Overrides;
import tollbooth.workload.Target;

class RestPeersTest {

  private static final Target TARGET = new Target("a2", "answer");
  private static final CallPath PATH = CallPath.valueOf("17~2.0");

  @Test
  void passesOnWhatTravelsWithTheCall() throws Exception {
    try (StubPeer peer = StubPeer.answering(200)) {
      CallHead head = new CallHead(PATH, new Overrides(Optional.of(3), Optional.of(0.25)));
      byte[] answer = peers(peer.addresses()).call(TARGET, head);

      assertThat(answer).asString().isEqualTo("{\"node\":\"stub\"}");
      assertThat(peer.calls()).containsExactly("answer 17~2.0");
      assertThat(peer.header(Overrides.LATENCY_HEADER)).containsExactly("3");
      assertThat(peer.header(Overrides.PROBABILITY_HEADER)).containsExactly("0.25");
    }
  }

  @Test
  void sendsNoHeaderForOverridesThatARequestDoesNotHave() throws Exception {
    try (StubPeer peer = StubPeer.answering(200)) {
      peers(peer.addresses()).start(TARGET, new CallHead(PATH, Overrides.NONE)).join();

      assertThat(peer.header(Overrides.LATENCY_HEADER)).containsOnlyNulls();
      assertThat(peer.header(Overrides.PROBABILITY_HEADER)).containsOnlyNulls();
    }
  }

  @Test
  void failsIfNoOneListens() {
    RestPeers peers = peers(node -> URI.create("http://localhost:1"));

    assertThatThrownBy(() -> peers.start(TARGET, new CallHead(PATH, Overrides.NONE)).join())
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(PeerFailedException.class)
        .hasMessageContaining("a2.answer did not answer");
  }

  private static RestPeers peers(PeerAddresses addresses) {
    SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor();
    return new RestPeers(RestClient.create(), executor, addresses);
  }
}
