package tollbooth.benchmarks.spans;

import com.google.protobuf.ByteString;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.ScopeSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the proposal compared itself with: a span is an object of a class generated from protobuf,
 * its end puts it into a buffer that a lock guards, and it is serialized when it is sent.
 */
final class LateMaker implements SpanMaker {

  private static final long SECOND_NS = 1_000_000_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final int most;
  private final AtomicLong delivered = new AtomicLong();
  private List<Span> buffer = new ArrayList<>();

  /**
   * Makes an empty buffer.
   *
   * @param most spans in the buffer
   */
  LateMaker(int most) {
    this.most = most;
  }

  @Override
  public void make(int attributes) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    Span.Builder span =
        Span.newBuilder()
            .setTraceId(id(random.nextLong(), random.nextLong()))
            .setSpanId(id(random.nextLong()))
            .setName("GET /op/{operation}")
            .setKind(Span.SpanKind.SPAN_KIND_INTERNAL)
            .setStartTimeUnixNano(now());
    for (int i = 0; i < attributes; i++) {
      span.addAttributes(
          KeyValue.newBuilder()
              .setKey(ApiSpans.KEYS[i])
              .setValue(AnyValue.newBuilder().setStringValue(ApiSpans.VALUES[i])));
    }
    add(span.setEndTimeUnixNano(now()).build());
  }

  private void add(Span span) {
    lock.lock();
    try {
      if (buffer.size() < most) {
        buffer.add(span);
      }
    } finally {
      lock.unlock();
    }
  }

  private static ByteString id(long... parts) {
    ByteBuffer bytes = ByteBuffer.allocate(parts.length * Long.BYTES);
    for (long part : parts) {
      bytes.putLong(part);
    }
    return ByteString.copyFrom(bytes.flip());
  }

  private static long now() {
    Instant now = Instant.now();
    return now.getEpochSecond() * SECOND_NS + now.getNano();
  }

  /** Serializes what is in the buffer. */
  @Override
  public void settle() {
    List<Span> spans;
    lock.lock();
    try {
      spans = buffer;
      buffer = new ArrayList<>();
    } finally {
      lock.unlock();
    }
    byte[] request =
        ExportTraceServiceRequest.newBuilder()
            .addResourceSpans(
                ResourceSpans.newBuilder()
                    .addScopeSpans(ScopeSpans.newBuilder().addAllSpans(spans)))
            .build()
            .toByteArray();
    if (request.length > 0) {
      delivered.addAndGet(spans.size());
    }
  }

  @Override
  public long delivered() {
    return delivered.get();
  }

  @Override
  public void close() {}
}
