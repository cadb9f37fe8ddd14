package tollbooth.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.grpc.client.autoconfigure.GrpcClientAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.client.GrpcChannelFactory;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.testing.StubGrpcPeer;
import tollbooth.web.PeerAddresses;
import tollbooth.web.PeerFailedException;
import tollbooth.workload.CallHead;
import tollbooth.workload.CallPath;
import tollbooth.workload.Overrides;
import tollbooth.workload.Target;

class GrpcPeersTest {

  private static final Target TARGET = new Target("s2", "answer");
  private static final CallHead HEAD = new CallHead(CallPath.valueOf("17~2.0"), Overrides.NONE);

  private final ConfigurableApplicationContext spring =
      new SpringApplicationBuilder(Client.class).web(WebApplicationType.NONE).run();

  /** The channels as Spring Boot sets them up, without a service around them. */
  @ImportAutoConfiguration({GrpcClientAutoConfiguration.class, SslAutoConfiguration.class})
  static class Client {}

  @AfterEach
  void stop() {
    spring.close();
  }

  @Test
  void passesOnWhatTravelsWithTheCall() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK)) {
      CallHead head = new CallHead(HEAD.path(), new Overrides(Optional.of(3), Optional.of(0.25)));
      byte[] answer = peers(peer.addresses()).call(TARGET, head);

      assertThat(answer)
          .asString()
          .isEqualTo("{\"node\":\"stub\",\"operation\":\"any\",\"calls\":0}");
      assertThat(peer.calls()).containsExactly("answer 17~2.0");
      assertThat(peer.messages())
          .containsExactly(
              MockRequest.newBuilder().setLatency(3).setErrorProbability(0.25f).build());
    }
  }

  @Test
  void leavesOutOverridesThatARequestDoesNotHave() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.answering(Status.OK)) {
      peers(peer.addresses()).call(TARGET, HEAD);

      assertThat(peer.messages()).containsExactly(MockRequest.getDefaultInstance());
    }
  }

  @Test
  void failsWithWhatThePeerAnswersAndCallsItOnce() throws Exception {
    try (StubGrpcPeer peer =
        StubGrpcPeer.answering(Status.INTERNAL.withDescription("a drawn failure"))) {
      GrpcPeers peers = peers(peer.addresses());

      assertThatThrownBy(() -> peers.call(TARGET, HEAD))
          .isInstanceOf(PeerFailedException.class)
          .hasMessageContaining("s2.answer answered INTERNAL: a drawn failure");
      assertThat(peer.calls()).hasSize(1);
    }
  }

  @Test
  void failsIfNoOneListens() {
    GrpcPeers peers = peers(node -> URI.create("http://localhost:1"));

    assertThatThrownBy(() -> peers.start(TARGET, HEAD).join())
        .isInstanceOf(CompletionException.class)
        .cause()
        .isInstanceOf(PeerFailedException.class)
        .hasMessageContaining("s2.answer answered UNAVAILABLE");
  }

  @Test
  void holdsNoThreadWhileItWaits() throws Exception {
    int calls = 500;
    try (StubGrpcPeer peer = StubGrpcPeer.answeringTogether(calls)) {
      GrpcPeers peers = peers(peer.addresses());
      CompletableFuture<?>[] answers =
          IntStream.range(0, calls)
              .mapToObj(i -> peers.start(TARGET, HEAD))
              .toArray(CompletableFuture<?>[]::new);

      CompletableFuture.allOf(answers).join();
      assertThat(peer.calls()).hasSize(calls);
    }
  }

  @Test
  void givesACallUpThatIsCancelled() throws Exception {
    try (StubGrpcPeer peer = StubGrpcPeer.hanging()) {
      CompletableFuture<?> answer = peers(peer.addresses()).start(TARGET, HEAD);
      await().until(() -> peer.messages().size() == 1);
      answer.cancel(true);

      await().until(() -> peer.cancelled() == 1);
    }
  }

  @Test
  void opensConnectionsAtTheProxyAndKeepsThePeersAuthority() throws Exception {
    try (StubGrpcPeer proxy = StubGrpcPeer.answering(Status.OK)) {
      GrpcPeers peers =
          peers(node -> URI.create("http://" + node + ":9090"), Optional.of(proxy.listensAt()));
      peers.call(TARGET, HEAD);
      peers.call(new Target("s3", "answer"), HEAD);

      assertThat(proxy.authorities()).isEqualTo(List.of("s2:9090", "s3:9090"));
    }
  }

  private GrpcPeers peers(PeerAddresses addresses) {
    return peers(addresses, Optional.empty());
  }

  private GrpcPeers peers(PeerAddresses addresses, Optional<InetSocketAddress> proxy) {
    return new GrpcPeers(spring.getBean(GrpcChannelFactory.class), addresses, proxy);
  }
}
