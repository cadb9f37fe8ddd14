package tollbooth.telemetry.streaming;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import tollbooth.telemetry.recorder.Ledger;
import tollbooth.telemetry.recorder.Message;
import tollbooth.telemetry.recorder.Sender;

/** A tracer whose queue the test empties and decodes. */
final class Harness implements Sender {

  static final Attributes RESOURCE = Attributes.builder().put("service.name", "a1").build();

  final BufferPool buffers;
  final Ledger ledger = new Ledger();
  final SpanQueue queue;
  final StreamingTracerProvider provider;
  volatile int wakes;

  Harness(Limits limits, Sampler sampler, int mostBuffers, int queueSize) {
    this(limits, sampler, mostBuffers, queueSize, new OtlpFormat(RESOURCE));
  }

  Harness(Limits limits, Sampler sampler, int mostBuffers, int queueSize, WireFormat format) {
    this(limits, sampler, mostBuffers, queueSize, format, false);
  }

  private Harness(
      Limits limits,
      Sampler sampler,
      int mostBuffers,
      int queueSize,
      WireFormat format,
      boolean grouped) {
    buffers = new BufferPool(mostBuffers);
    RecordingPool recordings = new RecordingPool(buffers, limits);
    queue = new SpanQueue(queueSize, new Wire(format, grouped, recordings), ledger);
    Pipeline pipeline = new Pipeline(sampler, limits, format, recordings, queue, ledger);
    provider = new StreamingTracerProvider(pipeline, this);
  }

  static Harness of(Limits limits) {
    return new Harness(limits, Sampler.parentBased(Sampler.ALWAYS_ON), 4096, 2048);
  }

  /** Spans of one scope share what precedes them. */
  static Harness grouped() {
    WireFormat format = new OtlpFormat(RESOURCE);
    return new Harness(Limits.DEFAULT, Sampler.ALWAYS_ON, 4096, 2048, format, true);
  }

  @Override
  public void wake() {
    wakes++;
  }

  @Override
  public boolean flush(Duration timeout) {
    return queue.isEmpty();
  }

  @Override
  public void close(Duration timeout) {
    queue.close();
  }

  /** What the queued spans are on the wire. */
  byte[] sentBytes() {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    for (Message span = queue.poll(); span != null; span = queue.poll()) {
      int before = request.size();
      append(request, span);
      if (request.size() - before != span.sizeBytes()) {
        throw new AssertionError("not the size that it says");
      }
      span.release();
    }
    return request.toByteArray();
  }

  static void append(ByteArrayOutputStream request, Message span) {
    ByteBuffer bytes = ByteBuffer.allocate(2 * span.sizeBytes());
    span.copyTo(bytes);
    append(request, bytes.flip());
  }

  static void append(ByteArrayOutputStream request, ByteBuffer part) {
    byte[] bytes = new byte[part.remaining()];
    part.get(bytes);
    request.writeBytes(bytes);
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
