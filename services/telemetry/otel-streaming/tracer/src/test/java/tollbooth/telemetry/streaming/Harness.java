package tollbooth.telemetry.streaming;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.io.ByteArrayOutputStream;
import java.util.List;

/** A tracer whose queue the test empties and decodes. */
final class Harness {

  static final Attributes RESOURCE = Attributes.builder().put("service.name", "a1").build();

  final BufferPool buffers;
  final Ledger ledger = new Ledger();
  final SpanQueue queue;
  final StreamingTracerProvider provider;
  private final RecordingPool recordings;
  private final WireFormat format;

  Harness(Limits limits, Sampler sampler, int mostBuffers, int queueSize) {
    this(limits, sampler, mostBuffers, queueSize, new OtlpFormat(RESOURCE, null));
  }

  Harness(Limits limits, Sampler sampler, int mostBuffers, int queueSize, WireFormat format) {
    this.format = format;
    buffers = new BufferPool(mostBuffers);
    recordings = new RecordingPool(buffers, limits);
    queue = new SpanQueue(queueSize, recordings, ledger);
    provider =
        new StreamingTracerProvider(
            new Pipeline(sampler, limits, format, recordings, queue, ledger));
  }

  static Harness of(Limits limits) {
    return new Harness(limits, Sampler.parentBased(Sampler.ALWAYS_ON), 4096, 2048);
  }

  /** What the queued spans are on the wire. */
  byte[] sentBytes() {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    for (Recording span = queue.poll(); span != null; span = queue.poll()) {
      byte[] scope = span.scope;
      int length = span.chain.length();
      request.writeBytes(Protobuf.encoded(out -> format.frame(out, scope, length)));
      Buffer chain = span.chain.detach();
      for (Buffer part = chain; part != null; part = part.next) {
        byte[] bytes = new byte[part.bytes.remaining()];
        part.bytes.get(bytes);
        request.writeBytes(bytes);
      }
      buffers.give(chain);
      recordings.giveDetached(span);
    }
    return request.toByteArray();
  }

  /** What the queued spans are on the wire, decoded. */
  List<ResourceSpans> sent() {
    try {
      return ExportTraceServiceRequest.parseFrom(sentBytes()).getResourceSpansList();
    } catch (com.google.protobuf.InvalidProtocolBufferException broken) {
      throw new AssertionError(broken);
    }
  }

  /** The decoded spans, without their resources and scopes. */
  List<io.opentelemetry.proto.trace.v1.Span> sentSpans() {
    return sent().stream()
        .flatMap(group -> group.getScopeSpansList().stream())
        .flatMap(group -> group.getSpansList().stream())
        .toList();
  }
}
