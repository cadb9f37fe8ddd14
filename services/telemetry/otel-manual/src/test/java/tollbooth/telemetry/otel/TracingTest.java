package tollbooth.telemetry.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tollbooth.web.testing.RunningNode;

/** Requests through three services that really run; their spans are kept in memory. */
class TracingTest {

  private static final String TOPOLOGY =
      """
      format: tollbooth.topology
      version: 1
      entry: gateway
      nodes:
        gateway: {kind: gateway, routes: {row: a1.row, fan: a1.fan, broken: a1.broken, dead: a9.answer}}
        a1:
          kind: svc-a
          operations:
            row: {calls: [{to: [a2.answer], times: 3, order: sequence}]}
            fan: {calls: [{to: [a2.answer], times: 4, order: parallel}]}
            broken: {calls: [{to: [a2.broken]}]}
        a2: {kind: svc-a, operations: {answer: {}, broken: {error_probability: 1}}}
        a9: {kind: svc-a, operations: {answer: {}}}
      """;

  private static final Map<String, URI> ADDRESSES =
      new ConcurrentHashMap<>(Map.of("a9", URI.create("http://localhost:1")));
  private static final InMemorySpanExporter SPANS = InMemorySpanExporter.create();
  private static RunningNode gateway;
  private static RunningNode a1;
  private static RunningNode a2;

  @BeforeAll
  static void start() {
    OpenTelemetry telemetry =
        OpenTelemetrySdk.builder()
            .setTracerProvider(
                SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(SPANS))
                    .build())
            .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
            .build();
    gateway = start(tollbooth.gateway.Application.class, "gateway", telemetry);
    a1 = start(tollbooth.svca.Application.class, "a1", telemetry);
    a2 = start(tollbooth.svca.Application.class, "a2", telemetry);
  }

  private static RunningNode start(Class<?> program, String name, OpenTelemetry telemetry) {
    RunningNode node =
        RunningNode.start(
            program,
            RunningNode.settings(name, TOPOLOGY, ADDRESSES::get),
            Map.of("openTelemetry", telemetry));
    ADDRESSES.put(name, node.address());
    return node;
  }

  @AfterAll
  static void stop() {
    gateway.close();
    a1.close();
    a2.close();
  }

  @BeforeEach
  void forget() {
    SPANS.reset();
  }

  @Test
  void tracesAsTheTopologyPredicts() throws Exception {
    gateway.get("/row");
    assertTree(3, "GET /op/{operation}");
  }

  @Test
  void keepsTheParentOfParallelCalls() throws Exception {
    gateway.get("/fan");
    assertTree(4, "GET /op/{operation}");
  }

  /** Gateway, its call, the service, and below it each call with its answer. */
  private static void assertTree(int calls, String serverName) {
    List<SpanData> spans = finished(1 + 2 + 2 * calls);
    assertThat(spans).extracting(SpanData::getTraceId).containsOnly(spans.getFirst().getTraceId());
    assertThat(spans).extracting(span -> span.getAttributes().size()).containsOnly(8);
    assertThat(spans)
        .extracting(span -> span.getStatus().getStatusCode())
        .containsOnly(StatusCode.UNSET);

    SpanData root =
        only(children(spans, "0000000000000000"), SpanKind.SERVER, "GET /{route}", 1).getFirst();
    SpanData passing =
        only(children(spans, root.getSpanId()), SpanKind.CLIENT, "GET", 1).getFirst();
    SpanData work =
        only(children(spans, passing.getSpanId()), SpanKind.SERVER, serverName, 1).getFirst();
    for (SpanData call : only(children(spans, work.getSpanId()), SpanKind.CLIENT, "GET", calls)) {
      only(children(spans, call.getSpanId()), SpanKind.SERVER, serverName, 1);
    }
  }

  /** A server's span may end after its client has the answer. */
  private static List<SpanData> finished(int count) {
    await().until(() -> SPANS.getFinishedSpanItems().size() >= count);
    assertThat(SPANS.getFinishedSpanItems()).hasSize(count);
    return SPANS.getFinishedSpanItems();
  }

  private static List<SpanData> only(List<SpanData> spans, SpanKind kind, String name, int count) {
    assertThat(spans).hasSize(count);
    assertThat(spans).extracting(SpanData::getKind).containsOnly(kind);
    assertThat(spans).extracting(SpanData::getName).containsOnly(name);
    return spans;
  }

  private static List<SpanData> children(List<SpanData> spans, String parent) {
    return spans.stream().filter(span -> span.getParentSpanId().equals(parent)).toList();
  }

  @Test
  void tagsSpansWithTheConventionsNames() throws Exception {
    gateway.get("/row");

    assertThat(tags(SpanKind.SERVER))
        .containsOnlyKeys(
            "http.request.method",
            "url.scheme",
            "url.path",
            "http.route",
            "http.response.status_code",
            "server.address",
            "server.port",
            "network.protocol.version")
        .containsEntry("http.response.status_code", 200L)
        .containsEntry("network.protocol.version", "1.1");
    assertThat(tags(SpanKind.CLIENT))
        .containsOnlyKeys(
            "http.request.method",
            "url.full",
            "url.scheme",
            "http.response.status_code",
            "server.address",
            "server.port",
            "network.protocol.name",
            "network.protocol.version")
        .containsEntry("server.port", (long) ADDRESSES.get("a2").getPort());
  }

  private static Map<String, Object> tags(SpanKind kind) {
    Map<String, Object> tags = new ConcurrentHashMap<>();
    finished(9).stream()
        .filter(span -> span.getKind() == kind)
        .findFirst()
        .orElseThrow()
        .getAttributes()
        .forEach((key, value) -> tags.put(key.getKey(), value));
    return tags;
  }

  @Test
  void marksADrawnFailureOnEverySpanThatItReaches() throws Exception {
    assertThat(gateway.get("/broken").statusCode()).isEqualTo(502);

    assertThat(finished(5))
        .allMatch(span -> span.getStatus().getStatusCode() == StatusCode.ERROR)
        .extracting(span -> span.getAttributes().get(AttributeKey.stringKey("error.type")))
        .containsExactlyInAnyOrder("500", "500", "502", "502", "502");
  }

  @Test
  void marksACallThatNobodyAnswered() throws Exception {
    assertThat(gateway.get("/dead").statusCode()).isEqualTo(502);

    assertThat(finished(2))
        .filteredOn(span -> span.getKind() == SpanKind.CLIENT)
        .singleElement()
        .satisfies(span -> assertThat(span.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR))
        .extracting(span -> span.getAttributes().get(AttributeKey.stringKey("error.type")))
        .asString()
        .endsWith("ConnectException");
  }

  @Test
  void doesNotBlameTheServerForAClientsMistake() throws Exception {
    assertThat(gateway.get("/nowhere").statusCode()).isEqualTo(404);

    assertThat(finished(1))
        .singleElement()
        .extracting(span -> span.getStatus().getStatusCode())
        .isEqualTo(StatusCode.UNSET);
  }
}
