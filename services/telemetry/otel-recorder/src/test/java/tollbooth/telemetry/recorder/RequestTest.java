package tollbooth.telemetry.recorder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.OutputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.telemetry.recorder.Ledger.Counts;
import tollbooth.telemetry.recorder.StubEndpoint.Request;

/** When a request begins and ends, and how long a caller waits for it at most. */
@Timeout(60)
class RequestTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int MIB = 1 << 20;
  private static final int SIZE = BytesMessage.LEAST_BYTES;

  private final QueueSource source = new QueueSource();

  private static RecorderSettings settings(
      StubEndpoint endpoint, Duration age, int requestBytes, Routing routing) {
    RecorderSettings given = RecorderSettings.of(List.of(endpoint.endpoint()));
    return new RecorderSettings(
        given.endpoints(),
        Map.of(),
        age,
        requestBytes,
        given.retainedBytes(),
        given.sendBufferBytes(),
        Duration.ofMillis(1),
        LONG,
        Framing.CHUNK_PER_SPAN,
        false,
        routing);
  }

  private static RecorderSettings settings(StubEndpoint endpoint, Duration age) {
    return settings(endpoint, age, MIB, Routing.ANY_WRITABLE);
  }

  private Recorder start(RecorderSettings settings) {
    return Recorder.start(source, source.ledger, settings);
  }

  /** Waits until the recorder has offered what it has to its connections once more. */
  private void awaitTurns() {
    int before = source.looks.get();
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .until(() -> source.looks.get() - before > 3);
  }

  /** Not even its first byte. */
  @ParameterizedTest
  @EnumSource
  void noRequestBeginsBeforeTheAnswerToTheOneBefore(Routing routing) throws Exception {
    AtomicInteger early = new AtomicInteger();
    StubEndpoint.Script late =
        (stub, socket, input) -> {
          while (true) {
            stub.readRequest(input);
            awaitTurns();
            early.addAndGet(input.available());
            socket.getOutputStream().write(StubEndpoint.OK.getBytes(ISO_8859_1));
          }
        };
    source.put(0, 50, SIZE);
    try (StubEndpoint endpoint = StubEndpoint.running(late);
        Recorder recorder = start(settings(endpoint, LONG, 10 * SIZE, routing))) {
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(endpoint.requests).hasSize(5).allMatch(request -> request.bytes() == 10 * SIZE);
      assertThat(endpoint.connections).hasValue(1);
      assertThat(early).hasValue(0);
      assertThat(source.ledger.counts()).isEqualTo(new Counts(50, 50, 0, 0, 0, 0, 0));
    }
  }

  /** Its age is the time since it began, not since its last span, and not the connection's. */
  @Test
  void aRequestEndsBecauseOfItsAgeWhileSpansCome() throws Exception {
    Duration age = Duration.ofMillis(200);
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder = start(settings(endpoint, age))) {
      long startNanos = System.nanoTime();
      for (int i = 0; endpoint.requests.size() < 3; i++) {
        source.put(i, 1, SIZE);
        Thread.sleep(Duration.ofMillis(1));
      }

      assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
          .isBetween(age.multipliedBy(5).dividedBy(2), LONG);
      assertThat(endpoint.requests).anyMatch(request -> request.chunks().size() > 1);
    }
  }

  @Test
  void aRequestEndsWhenItHasAMebibyte() throws Exception {
    assertThat(RecorderSettings.of(List.of()).requestBytes()).isEqualTo(MIB);
    int count = 2_500;
    source.put(0, count, 1_000);
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder = start(settings(endpoint, LONG))) {
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(endpoint.requests)
          .extracting(Request::bytes)
          .containsExactly(MIB / 1_000 * 1_000, MIB / 1_000 * 1_000, 404_000);
    }
  }

  /** As a program does that flushes after each piece of work, while no endpoint can be reached. */
  @Test
  void aFlushWhoseTimeIsOverEndsNoRequest() throws Exception {
    CountDownLatch found = new CountDownLatch(1);
    Executor resolvers =
        lookUp ->
            Thread.ofVirtual()
                .start(() -> {
                  await().until(() -> found.getCount() == 0);
                  lookUp.run();
                });
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder =
            Recorder.start(source, source.ledger, settings(endpoint, LONG), resolvers)) {
      source.put(0, 1, SIZE);
      assertThat(recorder.flush(Duration.ofMillis(10))).isFalse();
      found.countDown();
      await().until(() -> source.releases.get() == 1);
      awaitTurns();
      source.put(1, 1, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(endpoint.requests).hasSize(1);
      assertThat(endpoint.numbers(SIZE)).containsExactly(0L, 1L);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void nobodyWaitsLongForAnEndpointThatNeverAnswers(boolean reads) throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    StubEndpoint.Script silent =
        (stub, socket, input) -> {
          if (reads) {
            input.transferTo(OutputStream.nullOutputStream());
          }
          over.await();
        };
    source.put(0, 5_000, 1_000);
    try (StubEndpoint endpoint = StubEndpoint.narrow(silent)) {
      Recorder recorder = start(settings(endpoint, Duration.ofMillis(50)));
      Duration bound = Duration.ofMillis(200);
      long startNanos = System.nanoTime();
      assertThat(recorder.flush(bound)).isFalse();
      long flushedNanos = System.nanoTime();
      assertThat(Duration.ofNanos(flushedNanos - startNanos))
          .isBetween(bound, Duration.ofSeconds(5));

      // Whoever else waits still learns of the end.
      FutureTask<Boolean> flush = new FutureTask<>(() -> recorder.flush(LONG));
      Thread waiting = Thread.ofPlatform().start(flush);
      await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
      long closingNanos = System.nanoTime();
      recorder.close(bound);
      assertThat(flush.get()).isFalse();
      assertThat(Duration.ofNanos(System.nanoTime() - closingNanos))
          .isBetween(bound, Duration.ofSeconds(5));
      over.countDown();
    }
    assertThat(source.ledger.counts()).isEqualTo(new Counts(5_000, 0, 0, 0, 0, 5_000, 0));
    assertThat(source.releases).hasValue(5_000);
  }
}
