package tollbooth.telemetry.recorder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tollbooth.telemetry.recorder.Ledger.Counts;
import tollbooth.telemetry.recorder.StubEndpoint.Request;

/** The recorder against endpoints on loopback that behave well and badly. */
@Timeout(60)
class RecorderTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int SIZE = BytesMessage.LEAST_BYTES;
  private static final String BUSY = "HTTP/1.1 503 Later\r\nContent-Length: 0\r\n\r\n";

  private final QueueSource source = new QueueSource();

  private static RecorderSettings settings(StubEndpoint... endpoints) {
    return RecorderSettings.of(List.of(endpoints).stream().map(StubEndpoint::endpoint).toList());
  }

  private static RecorderSettings with(
      RecorderSettings given, int requestBytes, Duration timeout, Framing framing) {
    return with(given, requestBytes, given.retainedBytes(), timeout, framing, false);
  }

  private static RecorderSettings with(
      RecorderSettings given,
      int requestBytes,
      long retainedBytes,
      Duration timeout,
      Framing framing,
      boolean gzip) {
    return new RecorderSettings(
        given.endpoints(),
        Map.of("x-key", "secret"),
        given.requestAge(),
        requestBytes,
        retainedBytes,
        given.sendBufferBytes(),
        Duration.ofMillis(10),
        timeout,
        framing,
        gzip,
        Routing.ANY_WRITABLE);
  }

  private static RecorderSettings compressing(RecorderSettings given, Framing framing) {
    return with(given, 1 << 20, given.retainedBytes(), LONG, framing, true);
  }

  private Recorder start(RecorderSettings settings) {
    return Recorder.start(source, source.ledger, settings);
  }

  /** Nothing lost, nothing twice, and every buffer given back once. */
  private void assertAllSettled(int ended) {
    assertThat(source.ledger.counts().ended()).isEqualTo(ended);
    assertThat(source.ledger.counts().balanced()).isTrue();
    assertThat(source.releases).hasValue(ended);
  }

  private static Long[] numbers(long count) {
    return LongStream.range(0, count).boxed().toArray(Long[]::new);
  }

  @ParameterizedTest
  @EnumSource
  void sendsEverySpanOnceInRequestsOfBoundedSize(Framing framing) throws Exception {
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder = start(with(settings(endpoint), 900, Duration.ofSeconds(10), framing))) {
      source.put(0, 1_000, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(endpoint.numbers(SIZE)).containsExactly(numbers(1_000));
      assertThat(endpoint.requests).hasSize(10).allMatch(request -> request.bytes() == 900);
      assertThat(endpoint.requests)
          .allMatch(
              request -> request.chunks().size() == (framing == Framing.CHUNK_PER_SPAN ? 100 : 1));
      assertThat(endpoint.connections).hasValue(1);
      assertThat(source.ledger.counts()).isEqualTo(new Counts(1_000, 1_000, 0, 0, 0, 0, 0));
    }
    assertAllSettled(1_000);
  }

  /** Of several chunks: each is compressed for itself. */
  @ParameterizedTest
  @EnumSource(names = {"CHUNK_PER_WRITE", "GROUP_PER_WRITE"})
  void aCompressedBodyIsOneStream(Framing framing) throws Exception {
    int bytes = 1_000;
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder = start(compressing(settings(endpoint), framing))) {
      source.put(0, 1_000, bytes);
      assertThat(recorder.flush(LONG)).isTrue();

      List<Long> numbers = new ArrayList<>();
      for (Request request : endpoint.requests) {
        assertThat(request.head()).contains("\nContent-Encoding: gzip\n");
        ByteBuffer body = ByteBuffer.wrap(request.unpacked());
        for (int at = 0; at < body.capacity(); at += bytes) {
          numbers.add(body.getLong(at));
        }
      }
      assertThat(numbers).containsExactly(numbers(1_000));
      assertThat(endpoint.requests).anyMatch(request -> request.chunks().size() > 1);
      assertThat(endpoint.requests.stream().mapToInt(Request::bytes).sum()).isLessThan(100_000);
    }
    assertAllSettled(1_000);
  }

  @Test
  void compressesNoSingleSpans() {
    RecorderSettings settings = RecorderSettings.of(List.of());

    assertThatThrownBy(() -> compressing(settings, Framing.CHUNK_PER_SPAN))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void postsToThePathWithTheHeaders() throws Exception {
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder =
            start(with(settings(endpoint), 900, Duration.ofSeconds(10), Framing.CHUNK_PER_SPAN))) {
      source.put(0, 1, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(endpoint.requests)
          .singleElement()
          .extracting(Request::head)
          .isEqualTo(
              "POST /v1/traces HTTP/1.1\nHost: "
                  + endpoint.endpoint().authority()
                  + "\nContent-Type: application/x-protobuf\nTransfer-Encoding: chunked\n"
                  + "x-key: secret\n");
    }
  }

  @Test
  void endsARequestBecauseOfItsAge() throws Exception {
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder = start(settings(endpoint))) {
      long start = System.nanoTime();
      source.put(0, 1, SIZE);
      recorder.wake();

      await().until(() -> source.ledger.counts().acknowledged() == 1);
      assertThat(Duration.ofNanos(System.nanoTime() - start))
          .isBetween(Duration.ofMillis(900), Duration.ofSeconds(5));
      assertThat(endpoint.requests).hasSize(1);
    }
  }

  @Test
  void dropsASpanThatFitsInNoRequest() throws Exception {
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder =
            start(with(settings(endpoint), 99, Duration.ofSeconds(10), Framing.CHUNK_PER_SPAN))) {
      source.put(0, 1, 99);
      source.put(1, 1, 100);
      source.put(2, 1, 99);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(endpoint.numbers(99)).containsExactly(0L, 2L);
      assertThat(source.ledger.counts()).isEqualTo(new Counts(3, 2, 0, 1, 0, 0, 0));
    }
    assertAllSettled(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 502, 503, 504})
  void sendsAgainWhenTheEndpointRequestsIt(int status) throws Exception {
    String busy = "HTTP/1.1 " + status + " Later\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n";
    try (StubEndpoint endpoint = StubEndpoint.answering(busy, busy);
        Recorder recorder = start(settings(endpoint))) {
      source.put(0, 10, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(endpoint.requests).hasSize(3);
      assertThat(new HashSet<>(endpoint.numbers(SIZE))).containsExactlyInAnyOrder(numbers(10));
      assertThat(source.ledger.counts()).isEqualTo(new Counts(10, 10, 0, 0, 0, 0, 20));
    }
    assertAllSettled(10);
  }

  @Test
  void waitsAsLongAsTheEndpointRequests() throws Exception {
    String busy = "HTTP/1.1 503 Later\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n";
    try (StubEndpoint endpoint = StubEndpoint.answering(busy);
        Recorder recorder = start(settings(endpoint))) {
      source.put(0, 1, SIZE);
      long start = System.nanoTime();
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofSeconds(2));
    }
  }

  /** Even an answer that requests no wait leaves the endpoint time to recover. */
  @Test
  void givesUpAfterFiveAttempts() throws Exception {
    String busy = "HTTP/1.1 503 Later\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n";
    try (StubEndpoint endpoint = StubEndpoint.always(busy);
        Recorder recorder = start(settings(endpoint))) {
      source.put(0, 3, SIZE);
      long start = System.nanoTime();
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(800));
      assertThat(endpoint.requests).hasSize(5);
      assertThat(source.ledger.counts()).isEqualTo(new Counts(3, 0, 0, 0, 0, 3, 12));
    }
    assertAllSettled(3);
  }

  /** The sick endpoint is often the only idle one, since the other has load. */
  @Test
  void sendsToAnotherEndpointWhatOneFailed() throws Exception {
    int count = 0;
    try (StubEndpoint sick = StubEndpoint.always(BUSY);
        StubEndpoint healthy = StubEndpoint.answering();
        Recorder recorder =
            start(with(settings(sick, healthy), 30 * SIZE, LONG, Framing.CHUNK_PER_SPAN))) {
      await().until(() -> sick.connections.get() == 1 && healthy.connections.get() == 1);
      while (sick.requests.size() < 3) {
        source.put(count++, 1, SIZE);
        Thread.sleep(Duration.ofMillis(1));
      }
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(sick.numbers(SIZE)).doesNotHaveDuplicates();
      int failed = sick.numbers(SIZE).size();
      assertThat(source.ledger.counts()).isEqualTo(new Counts(count, count, 0, 0, 0, 0, failed));
      assertThat(new HashSet<>(healthy.numbers(SIZE))).hasSize(count);
    }
    assertAllSettled(count);
  }

  /** Looking again and again for a batch that only the other endpoint may take is of no use. */
  @Test
  void waitsForTheOtherEndpointWithoutLookingAllTheTime() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (StubEndpoint sick = StubEndpoint.always(BUSY);
        StubEndpoint slow = StubEndpoint.running(StubEndpoint.after(over));
        Recorder recorder =
            start(with(settings(sick, slow), 10 * SIZE, LONG, Framing.CHUNK_PER_SPAN))) {
      source.put(0, 20, SIZE);
      await().until(() -> sick.requests.size() == 1);
      int before = source.looks.get();
      // After the first half of this time the batch is due, and the sick endpoint idle.
      Thread.sleep(Duration.ofSeconds(2));

      assertThat(source.looks.get() - before).isLessThan(200);
      assertThat(sick.requests).hasSize(1);
      over.countDown();
      assertThat(recorder.flush(LONG)).isTrue();
      assertThat(sick.requests).hasSize(1);
      assertThat(source.ledger.counts()).isEqualTo(new Counts(20, 20, 0, 0, 0, 0, 10));
    }
    assertAllSettled(20);
  }

  /** One that never answers seems to serve until its time is over, but gets no second request. */
  @Test
  void takesBackWhatItFailedIfNoOtherEndpointTakesIt() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    try (StubEndpoint endpoint = StubEndpoint.answering(BUSY);
        StubEndpoint slow = StubEndpoint.running(StubEndpoint.after(over));
        Recorder recorder =
            start(with(settings(endpoint, slow), 10 * SIZE, LONG, Framing.CHUNK_PER_SPAN))) {
      source.put(0, 50, SIZE);
      await().until(() -> endpoint.requests.size() == 5);

      over.countDown();
      assertThat(recorder.flush(LONG)).isTrue();
      // Ten spans and a head.
      assertThat(slow.unread).hasValueBetween(10 * SIZE, 40 * SIZE);
      assertThat(source.ledger.counts()).isEqualTo(new Counts(50, 50, 0, 0, 0, 0, 10));
    }
    assertAllSettled(50);
  }

  @Test
  void takesBackWhatItFailedIfNoOtherEndpointServes() throws Exception {
    StubEndpoint probe = StubEndpoint.answering();
    Endpoint gone = probe.endpoint();
    probe.close();
    try (StubEndpoint endpoint = StubEndpoint.answering(BUSY);
        Recorder recorder = start(RecorderSettings.of(List.of(gone, endpoint.endpoint())))) {
      source.put(0, 10, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(endpoint.requests).hasSize(2);
      assertThat(source.ledger.counts()).isEqualTo(new Counts(10, 10, 0, 0, 0, 0, 10));
    }
    assertAllSettled(10);
  }

  /** As where the process may have no more threads. */
  @Test
  void triesAgainWhereNoThreadCanBeStarted() throws Exception {
    AtomicBoolean full = new AtomicBoolean(true);
    Executor resolvers =
        lookUp -> {
          if (full.getAndSet(false)) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          Thread.ofVirtual().start(lookUp);
        };
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder = Recorder.start(source, source.ledger, settings(endpoint), resolvers)) {
      source.put(0, 10, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(full).isFalse();
      assertThat(endpoint.numbers(SIZE)).containsExactly(numbers(10));
    }
    assertAllSettled(10);
  }

  @Test
  void logsTheErrorThatEndsIt() throws Exception {
    Error broken = new Error("broken");
    source.broken.set(broken);
    KeptLog log = new KeptLog();
    Logger logger = Logger.getLogger(Recorder.class.getName());
    logger.addHandler(log);
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder = start(settings(endpoint))) {
      await().until(() -> source.closed);
      assertThat(recorder.flush(LONG)).isFalse();
      assertThat(log.records).extracting(LogRecord::getThrown).containsExactly(broken);
    } finally {
      logger.removeHandler(log);
    }
  }

  @Test
  void countsWhatIsRejected() throws Exception {
    String partly = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\n\u0002\b\u0003";
    String rejected = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    try (StubEndpoint endpoint = StubEndpoint.answering(partly, rejected);
        Recorder recorder = start(settings(endpoint))) {
      source.put(0, 10, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();
      assertThat(source.ledger.counts()).isEqualTo(new Counts(10, 7, 0, 0, 3, 0, 0));

      source.put(10, 5, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();
      assertThat(source.ledger.counts()).isEqualTo(new Counts(15, 7, 0, 0, 8, 0, 0));
    }
    assertAllSettled(15);
  }

  @Test
  void sendsAgainAfterGarbage() throws Exception {
    try (StubEndpoint endpoint = StubEndpoint.answering("what?\r\n");
        Recorder recorder = start(settings(endpoint))) {
      source.put(0, 4, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(endpoint.requests).hasSize(2);
      assertThat(endpoint.connections).hasValue(2);
      assertThat(source.ledger.counts()).isEqualTo(new Counts(4, 4, 0, 0, 0, 0, 4));
    }
    assertAllSettled(4);
  }

  @Test
  void doesNotTakeSuccessBeforeTheEndOfTheRequest() throws Exception {
    AtomicBoolean early = new AtomicBoolean(true);
    try (StubEndpoint endpoint =
            StubEndpoint.running((stub, socket, input) -> {
              if (early.getAndSet(false)) {
                input.read();
                socket.getOutputStream().write(StubEndpoint.OK.getBytes(ISO_8859_1));
                input.transferTo(OutputStream.nullOutputStream());
              }
              stub.readRequest(input);
              socket.getOutputStream().write(StubEndpoint.OK.getBytes(ISO_8859_1));
            });
        Recorder recorder = start(settings(endpoint))) {
      source.put(0, 4, SIZE);
      await().until(() -> source.ledger.counts().acknowledged() == 4);

      assertThat(endpoint.numbers(SIZE)).containsExactly(numbers(4));
      assertThat(source.ledger.counts()).isEqualTo(new Counts(4, 4, 0, 0, 0, 0, 4));
    }
    assertAllSettled(4);
  }

  @Test
  void sendsAgainAfterTheConnectionEndsInAChunk() throws Exception {
    AtomicBoolean cut = new AtomicBoolean(true);
    try (StubEndpoint endpoint =
            StubEndpoint.running((stub, socket, input) -> {
              if (cut.getAndSet(false)) {
                input.readNBytes(5_000);
                return;
              }
              stub.answerAll(socket, input);
            });
        Recorder recorder = start(settings(endpoint))) {
      source.put(0, 1_000, 1_000);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(new HashSet<>(endpoint.numbers(1_000))).containsExactlyInAnyOrder(numbers(1_000));
      assertThat(source.ledger.counts().acknowledged()).isEqualTo(1_000);
      assertThat(source.ledger.counts().resent()).isPositive();
    }
    assertAllSettled(1_000);
  }

  @ParameterizedTest
  @EnumSource
  void leavesAnEndpointThatNeverReadsToTheOthers(Framing framing) throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    StubEndpoint.Script never = (stub, socket, input) -> over.await();
    int count = 5_000;
    try (StubEndpoint silent = StubEndpoint.narrow(never);
        StubEndpoint healthy = StubEndpoint.answering();
        Recorder recorder =
            start(with(settings(silent, healthy), 1 << 20, Duration.ofSeconds(2), framing))) {
      await().until(() -> silent.connections.get() == 1 && healthy.connections.get() == 1);
      source.put(0, count, 1_000);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(new HashSet<>(healthy.numbers(1_000))).hasSize(count);
      Counts counts = source.ledger.counts();
      assertThat(counts.acknowledged()).isEqualTo(count);
      // What the silent endpoint's socket buffers took, not a share of the load.
      assertThat(counts.resent()).isBetween(1L, count / 5L);
      over.countDown();
    }
    assertAllSettled(count);
  }

  /** Reads the start of the first request only, and answers; answers all that follow well. */
  private static StubEndpoint.Script answeringEarly(String answer, CountDownLatch over) {
    AtomicBoolean early = new AtomicBoolean(true);
    return (stub, socket, input) -> {
      if (early.getAndSet(false)) {
        input.read();
        socket.getOutputStream().write(answer.getBytes(ISO_8859_1));
        over.await();
        return;
      }
      stub.answerAll(socket, input);
    };
  }

  private record Outcome(Counts counts, List<Long> arrived) {}

  /** What becomes of spans whose first request is answered so while it is written. */
  private Outcome answeredEarly(String answer, int count) throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    source.put(0, count, 1_000);
    try (StubEndpoint endpoint = StubEndpoint.running(answeringEarly(answer, over));
        Recorder recorder = start(settings(endpoint))) {
      assertThat(recorder.flush(LONG)).isTrue();
      over.countDown();
      return new Outcome(source.ledger.counts(), endpoint.numbers(1_000));
    }
  }

  @Test
  void readsWhileItWritesThatItShallSendAgain() throws Exception {
    int count = 5_000;
    Outcome outcome =
        answeredEarly("HTTP/1.1 503 Later\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n", count);

    assertThat(outcome.arrived()).containsExactlyInAnyOrder(numbers(count));
    assertThat(outcome.counts().acknowledged()).isEqualTo(count);
    assertThat(outcome.counts().resent()).isBetween(1L, count - 1L);
    assertAllSettled(count);
  }

  @Test
  void readsWhileItWritesThatItsSpansAreRejected() throws Exception {
    int count = 5_000;
    Outcome outcome = answeredEarly("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", count);

    assertThat(outcome.counts().rejected()).isBetween(1L, count - 1L);
    assertThat(outcome.counts().acknowledged()).isEqualTo(count - outcome.counts().rejected());
    assertThat(outcome.counts().resent()).isZero();
    assertThat(outcome.arrived()).hasSize((int) outcome.counts().acknowledged());
    assertAllSettled(count);
  }

  @Test
  void theThreadWaitsWhileNoEndpointReads() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    int count = 20_000;
    source.put(0, count, 1_000);
    try (StubEndpoint silent = StubEndpoint.narrow(StubEndpoint.after(over));
        Recorder recorder = start(settings(silent))) {
      await().until(() -> source.releases.get() > 0);
      long before = cpuNanosOfRecorders();
      Thread.sleep(Duration.ofSeconds(1));
      Duration used = Duration.ofNanos(cpuNanosOfRecorders() - before);

      assertThat(source.releases).hasValueLessThan(count);
      assertThat(source.ledger.counts().acknowledged()).isZero();
      assertThat(used).isLessThan(Duration.ofMillis(200));
      assertTimeout(Duration.ofSeconds(3), () -> recorder.close(Duration.ofMillis(100)));
      over.countDown();
    }
    assertAllSettled(count);
  }

  private static long cpuNanosOfRecorders() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("span-recorder"))
        .mapToLong(thread -> threads.getThreadCpuTime(thread.threadId()))
        .sum();
  }

  @Test
  void closesInTimeWhereNobodyListensAndGivesTheRestUp() throws Exception {
    Recorder recorder =
        start(RecorderSettings.of(List.of(new Endpoint("127.0.0.1", 1, "/v1/traces"))));
    source.put(0, 50, SIZE);
    long start = System.nanoTime();
    recorder.close(Duration.ofMillis(300));

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    assertThat(source.ledger.counts()).isEqualTo(new Counts(50, 0, 0, 0, 0, 50, 0));
    assertAllSettled(50);
    assertThat(source.closed).isTrue();
    assertThat(recorder.flush(LONG)).isFalse();
  }

  @Test
  void connectsOnceSomebodyListens() throws Exception {
    StubEndpoint probe = StubEndpoint.answering();
    Endpoint gone = probe.endpoint();
    probe.close();
    try (StubEndpoint endpoint = StubEndpoint.answering();
        Recorder recorder = start(RecorderSettings.of(List.of(gone, endpoint.endpoint())))) {
      source.put(0, 10, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();
      assertThat(endpoint.numbers(SIZE)).containsExactly(numbers(10));
    }
  }

  /** The sick endpoint's pause is longer than a test. */
  @Test
  void leavesAnEndpointAloneThatRequestsAPause() throws Exception {
    String busy = "HTTP/1.1 503 Later\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n";
    CountDownLatch answered = new CountDownLatch(1);
    StubEndpoint.Script once =
        (stub, socket, input) -> {
          stub.readRequest(input);
          socket.getOutputStream().write(busy.getBytes(ISO_8859_1));
          answered.countDown();
          stub.readRequest(input);
        };
    try (StubEndpoint sick = StubEndpoint.running(once);
        StubEndpoint healthy = StubEndpoint.running(StubEndpoint.after(answered));
        Recorder recorder = start(bounded(20L * SIZE, sick, healthy))) {
      await().until(() -> sick.connections.get() == 1 && healthy.connections.get() == 1);
      source.put(0, 1_000, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(sick.requests).hasSize(1);
      assertThat(new HashSet<>(healthy.numbers(SIZE))).hasSize(1_000);
      // While the sick endpoint's spans wait, the bound has no room for fresh ones.
      assertThat(healthy.numbers(SIZE).subList(10, 20)).isEqualTo(sick.numbers(SIZE));
      assertThat(source.ledger.counts()).isEqualTo(new Counts(1_000, 1_000, 0, 0, 0, 0, 10));
    }
    assertAllSettled(1_000);
  }

  @Test
  void noNameOrAddressStopsTheOtherEndpoints() throws Exception {
    Endpoint slow = new Endpoint(SlowResolver.NAME, 4318, "/v1/traces");
    Endpoint impossible = new Endpoint("127.0.0.1", 65_536, "/v1/traces");
    try (StubEndpoint healthy = StubEndpoint.answering();
        Recorder recorder =
            start(RecorderSettings.of(List.of(slow, impossible, healthy.endpoint())))) {
      assertThat(SlowResolver.ASKED.await(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
      source.put(0, 10, SIZE);
      assertThat(recorder.flush(LONG)).isTrue();

      assertThat(healthy.numbers(SIZE)).containsExactly(numbers(10));
    }
  }

  @Test
  void looksANameUpAgainForEachConnection() throws Exception {
    try (StubEndpoint endpoint = StubEndpoint.answering()) {
      Endpoint moving =
          new Endpoint(SlowResolver.MOVING, endpoint.endpoint().port(), endpoint.endpoint().path());
      RecorderSettings settings = RecorderSettings.of(List.of(moving));
      Duration never = Duration.ofMinutes(5);
      try (Recorder recorder = start(with(settings, 1 << 20, never, Framing.CHUNK_PER_SPAN))) {
        source.put(0, 10, SIZE);
        assertThat(recorder.flush(LONG)).isTrue();
      }
      assertThat(endpoint.numbers(SIZE)).containsExactly(numbers(10));
      assertThat(SlowResolver.MOVES).hasValueGreaterThan(2);
    }
    assertAllSettled(10);
  }

  /** Requests of ten spans. */
  private static RecorderSettings bounded(long retainedBytes, StubEndpoint... endpoints) {
    RecorderSettings given = settings(endpoints);
    return with(given, 10 * SIZE, retainedBytes, LONG, Framing.CHUNK_PER_SPAN, false);
  }
}
