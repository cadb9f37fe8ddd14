package tollbooth.telemetry.recorder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tollbooth.telemetry.recorder.Ledger.Counts;

/** Endpoints in turn. {@link RecorderTest} has those that take what they can. */
@Timeout(60)
class RoutingTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int COUNT = 5_000;
  private static final int SIZE = 1_000;

  private final QueueSource source = new QueueSource();

  private Recorder startInTurn(Endpoint... endpoints) {
    RecorderSettings given = RecorderSettings.of(List.of(endpoints));
    return Recorder.start(
        source,
        source.ledger,
        new RecorderSettings(
            given.endpoints(),
            given.headers(),
            given.requestAge(),
            given.requestBytes(),
            given.retainedBytes(),
            given.sendBufferBytes(),
            Duration.ofMillis(10),
            given.timeout(),
            given.framing(),
            given.gzip(),
            Routing.ROUND_ROBIN));
  }

  private static void awaitConnections(StubEndpoint... endpoints) {
    await().until(() -> Stream.of(endpoints).allMatch(one -> one.connections.get() == 1));
  }

  /** Every span arrived, and none twice. */
  private void assertAllArrivedOnce(StubEndpoint... endpoints) {
    List<Long> arrived = new ArrayList<>();
    Stream.of(endpoints).forEach(one -> arrived.addAll(one.numbers(SIZE)));
    assertThat(arrived)
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, COUNT).boxed().toList());
    assertThat(source.ledger.counts()).isEqualTo(new Counts(COUNT, COUNT, 0, 0, 0, 0, 0));
  }

  @Test
  void givesEachEndpointItsTurn() throws Exception {
    try (StubEndpoint one = StubEndpoint.answering();
        StubEndpoint two = StubEndpoint.answering();
        StubEndpoint three = StubEndpoint.answering();
        Recorder recorder = startInTurn(one.endpoint(), two.endpoint(), three.endpoint())) {
      awaitConnections(one, two, three);
      source.put(0, COUNT, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertAllArrivedOnce(one, two, three);
      // A write takes some dozens, and the first turns may pass before all are connected.
      assertThat(List.of(one, two, three))
          .allSatisfy(
              each -> assertThat(each.numbers(SIZE).size()).isBetween(COUNT / 5, COUNT / 2));
    }
  }

  @Test
  void waitsForTheEndpointWhoseTurnItIs() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (StubEndpoint slow = StubEndpoint.narrow(StubEndpoint.after(over));
        StubEndpoint healthy = StubEndpoint.answering();
        Recorder recorder = startInTurn(slow.endpoint(), healthy.endpoint())) {
      awaitConnections(slow, healthy);
      source.put(0, COUNT, SIZE);

      assertThat(recorder.flush(Duration.ofSeconds(2))).isFalse();
      assertThat(source.ledger.counts().acknowledged()).isLessThan(COUNT / 2L);
      over.countDown();
      assertThat(recorder.flush(LONG)).isTrue();
      assertAllArrivedOnce(slow, healthy);
    }
  }

  @Test
  void passesAnEndpointThatIsNotConnected() throws Exception {
    StubEndpoint probe = StubEndpoint.answering();
    Endpoint gone = probe.endpoint();
    probe.close();
    try (StubEndpoint healthy = StubEndpoint.answering();
        Recorder recorder = startInTurn(gone, healthy.endpoint())) {
      source.put(0, COUNT, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();
      assertAllArrivedOnce(healthy);
    }
  }
}
