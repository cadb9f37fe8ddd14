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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the proposal compared itself with: a span is an object of a class generated from protobuf,
 * its end puts it into a buffer that a lock guards, and it is serialized when it is sent.
 */
final class LateMaker implements SpanMaker {

  private static final long SECOND_NS = 1_000_000_000;

  /** So many spans wake the sender, as the SDK's. A request takes all that are there then. */
  private static final int BATCH = 512;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition full = lock.newCondition();
  private final int most;
  private final AtomicLong delivered = new AtomicLong();

  /** Where requests go; null if they are dropped once they are serialized. */
  private final PlainHttp http;

  private List<Span> buffer = new ArrayList<>();
  private boolean closed;

  private LateMaker(int most, PlainHttp http) {
    this.most = most;
    this.http = http;
  }

  /**
   * Makes an empty buffer, which only {@link #settle} empties.
   *
   * @param most spans in the buffer
   */
  LateMaker(int most) {
    this(most, null);
  }

  /** Makes an empty buffer, and a thread that sends what is in it after a second, or earlier. */
  static LateMaker sending(String url, int most) {
    LateMaker maker = new LateMaker(most, new PlainHttp(url));
    Thread.ofPlatform().daemon().name("late-sender").start(maker::send);
    return maker;
  }

  @Override
  public void make(int attributes) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    Span.Builder span =
        Span.newBuilder()
            .setTraceId(id(random.nextLong(), random.nextLong()))
            .setSpanId(id(random.nextLong()))
            .setName(ApiSpans.NAME)
            .setKind(Span.SpanKind.SPAN_KIND_INTERNAL)
            .setStartTimeUnixNano(now());
    for (int i = 0; i < attributes; i++) {
      span.addAttributes(
          KeyValue.newBuilder()
              .setKey(ApiSpans.KEYS.get(i).getKey())
              .setValue(AnyValue.newBuilder().setStringValue(ApiSpans.VALUES.get(i))));
    }
    add(span.setEndTimeUnixNano(now()).build());
  }

  private void add(Span span) {
    lock.lock();
    try {
      if (buffer.size() < most) {
        buffer.add(span);
      }
      if (buffer.size() == BATCH) {
        full.signal();
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

  private void send() {
    try {
      while (true) {
        lock.lockInterruptibly();
        try {
          if (closed) {
            return;
          }
          if (buffer.size() < BATCH) {
            full.await(1, TimeUnit.SECONDS);
          }
        } finally {
          lock.unlock();
        }
        settle();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Serializes what is in the buffer, and sends it if it has anywhere to go. */
  @Override
  public synchronized void settle() {
    for (List<Span> spans = take(); !spans.isEmpty(); spans = take()) {
      byte[] request =
          ExportTraceServiceRequest.newBuilder()
              .addResourceSpans(
                  ResourceSpans.newBuilder()
                      .addScopeSpans(ScopeSpans.newBuilder().addAllSpans(spans)))
              .build()
              .toByteArray();
      if (http != null) {
        http.post(request);
      }
      if (request.length > 0) {
        delivered.addAndGet(spans.size());
      }
    }
  }

  private List<Span> take() {
    lock.lock();
    try {
      List<Span> spans = buffer;
      buffer = new ArrayList<>();
      return spans;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long delivered() {
    return delivered.get();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      full.signal();
    } finally {
      lock.unlock();
    }
    if (http != null) {
      http.close();
    }
  }
}
