package tollbooth.telemetry.recorder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class StagingTest {

  private static final int REQUEST_BYTES = 1 << 21;

  private final Segments segments = new Segments();
  private final Batch request = new Batch(segments);
  private final Queue<Message> queue = new ArrayDeque<>();
  private final Ledger ledger = new Ledger();
  private int released;

  /** A message that is its text. A scope has a head, which says how many bytes follow. */
  private class Part extends Message {

    private final String scope;
    private final String text;

    Part(String scope, String text) {
      this.scope = scope;
      this.text = text;
    }

    @Override
    public int sizeBytes() {
      return text.length();
    }

    @Override
    public void copyTo(ByteBuffer out) {
      out.put(text.getBytes(ISO_8859_1));
    }

    @Override
    public ByteBuffer groupHead(long bytes) {
      return scope == null ? null : ByteBuffer.wrap((scope + bytes).getBytes(ISO_8859_1));
    }

    @Override
    public boolean sharesHeadWith(Message other) {
      return other instanceof Part part && part.scope.equals(scope);
    }

    @Override
    public void release() {
      released++;
    }
  }

  private Staging staging(Framing framing, int requestBytes) {
    return staging(framing, requestBytes, false);
  }

  private Staging staging(Framing framing, int requestBytes, boolean gzip) {
    Source source =
        new Source() {
          @Override
          public Message poll() {
            return queue.poll();
          }

          @Override
          public long offered() {
            return 0;
          }

          @Override
          public void close() {}
        };
    Duration any = Duration.ofSeconds(1);
    RecorderSettings settings =
        new RecorderSettings(
            List.of(),
            Map.of(),
            any,
            requestBytes,
            requestBytes,
            1,
            any,
            any,
            framing,
            gzip,
            Routing.ANY_WRITABLE);
    return new Staging(source, ledger, settings, segments);
  }

  private Staging staging(Framing framing) {
    return staging(framing, REQUEST_BYTES);
  }

  private void put(String... texts) {
    for (String text : texts) {
      queue.add(new Part(null, text));
    }
  }

  private static String text(ByteBuffer bytes) {
    return ISO_8859_1.decode(bytes.duplicate()).toString();
  }

  private static String text(List<ByteBuffer> buffers) {
    StringBuilder text = new StringBuilder();
    buffers.forEach(buffer -> text.append(text(buffer)));
    return text.toString();
  }

  @Test
  void framesEachSpan() {
    put("complete", "x");

    assertThat(text(staging(Framing.CHUNK_PER_SPAN).fitting(REQUEST_BYTES)))
        .isEqualTo("8\r\ncomplete\r\n1\r\nx\r\n");
    assertThat(released).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource(names = {"CHUNK_PER_WRITE", "GROUP_PER_WRITE"})
  void putsNoHeadBeforeACompleteMessage(Framing framing) {
    put("complete");

    assertThat(text(staging(framing).fitting(REQUEST_BYTES))).isEqualTo("8\r\ncomplete\r\n");
  }

  @Test
  void putsOneHeadBeforeMessagesOfOneScope() {
    queue.add(new Part("A", "one"));
    queue.add(new Part("A", "two"));
    queue.add(new Part("B", "x"));
    queue.add(new Part("A", "y"));

    assertThat(text(staging(Framing.GROUP_PER_WRITE).fitting(REQUEST_BYTES)))
        .isEqualTo("e\r\nA6onetwoB1xA1y\r\n");
  }

  @Test
  void headsCountTowardsTheRequestAndTheChunk() {
    queue.add(new Part("A".repeat(REQUEST_BYTES), "x"));
    for (int i = 0; i < 200; i++) {
      queue.add(new Part(("" + i % 2).repeat(1_000), "x"));
    }
    Staging staging = staging(Framing.GROUP_PER_WRITE);
    staging.moveBegun(staging.fitting(10_000).remaining(), request);

    assertThat(request.bytes()).isBetween(8_000L, 10_000L);
    assertThat(staging.fitting(REQUEST_BYTES).remaining()).isBetween(50_000, Segments.SIZE);
    assertThat(ledger.counts().tooLarge()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 9, 15, 16, 255, 256, 65_535, 65_536, 1_048_576})
  void saysTheSizeInHexadecimalDigits(int bytes) {
    put("x".repeat(bytes));

    assertThat(text(staging(Framing.CHUNK_PER_SPAN).fitting(REQUEST_BYTES)))
        .isEqualTo(Integer.toHexString(bytes) + "\r\n" + "x".repeat(bytes) + "\r\n");
  }

  /** Random characters cannot be compressed: their chunk is larger than they are. */
  @ParameterizedTest
  @ValueSource(ints = {1, 100, 57_000, 1_000_000})
  void compressesEachChunk(int bytes) throws IOException {
    Random random = new Random(7);
    String text =
        random.ints(bytes, 0, 256).mapToObj(Character::toString).collect(Collectors.joining());
    put(text, "the rest");
    Staging staging = staging(Framing.CHUNK_PER_WRITE, REQUEST_BYTES, true);

    StringBuilder unpacked = new StringBuilder();
    while (staging.hasMore()) {
      ByteBuffer chunk = staging.fitting(REQUEST_BYTES);
      String frame = text(chunk);
      int size = Integer.parseInt(frame.substring(0, 8), 16);
      assertThat(frame).hasSize(8 + 2 + size + 2).endsWith("\r\n");
      byte[] member = frame.substring(10, 10 + size).getBytes(ISO_8859_1);
      try (InputStream input = new GZIPInputStream(new ByteArrayInputStream(member))) {
        unpacked.append(new String(input.readAllBytes(), ISO_8859_1));
      }
      assertThat(staging.moveBegun(chunk.remaining(), request)).isZero();
    }

    assertThat(unpacked.toString()).isEqualTo(text + "the rest");
    assertThat(request.bytes()).isEqualTo(bytes + 8);
    assertThat(released).isEqualTo(2);
  }

  @Test
  void offersWhatTheRequestStillTakes() {
    put("one", "two", "three");
    Staging staging = staging(Framing.CHUNK_PER_SPAN);

    assertThat(text(staging.fitting(2))).isEmpty();
    assertThat(text(staging.fitting(6))).isEqualTo("3\r\none\r\n3\r\ntwo\r\n");
    assertThat(text(staging.fitting(5))).isEqualTo("3\r\none\r\n");
    assertThat(staging.hasMore()).isTrue();
  }

  @Test
  void aBegunChunkStaysWithItsRequest() {
    put("one", "two", "three");
    Staging staging = staging(Framing.CHUNK_PER_SPAN);
    staging.fitting(REQUEST_BYTES);

    assertThat(staging.moveBegun(0, request)).isZero();
    assertThat(staging.moveBegun(9, request)).isEqualTo(7);
    assertThat(text(request.chunks())).isEqualTo("3\r\none\r\n3\r\ntwo\r\n");
    assertThat(text(request.lastBytes(7))).isEqualTo("\r\ntwo\r\n");
    assertThat(request.spans()).isEqualTo(2);
    assertThat(request.bytes()).isEqualTo(6);
    assertThat(request.oldest()).isZero();
    assertThat(staging.oldest()).isEqualTo(2);

    assertThat(text(staging.fitting(REQUEST_BYTES))).isEqualTo("5\r\nthree\r\n");
    assertThat(staging.moveBegun(10, request)).isZero();
    assertThat(staging.oldest()).isEqualTo(3);
    assertThat(staging.hasMore()).isFalse();
    assertThat(text(request.chunks())).isEqualTo("3\r\none\r\n3\r\ntwo\r\n5\r\nthree\r\n");
  }

  /** Requests keep full segments and copy small ones; a begun chunk is always copied. */
  @ParameterizedTest
  @ValueSource(ints = {10, 700, 40_000, 150_000})
  void losesNoByteOfManySegments(int spanBytes) {
    StringBuilder all = new StringBuilder();
    Staging staging = staging(Framing.CHUNK_PER_SPAN);
    for (int i = 0; i < 500_000 / spanBytes; i++) {
      put(Character.toString('a' + i % 26).repeat(spanBytes));
    }
    for (int round = 0; staging.hasMore(); round++) {
      ByteBuffer offered = staging.fitting(REQUEST_BYTES);
      String text = text(offered);
      int written = round % 2 == 0 ? offered.remaining() : offered.remaining() / 2 + 1;
      int rest = staging.moveBegun(written, request);
      all.append(text, 0, written + rest);
    }

    assertThat(text(request.chunks())).isEqualTo(all.toString());
    assertThat(request.bytes()).isEqualTo(500_000L / spanBytes * spanBytes);
    request.release();
    assertThat(request.chunks()).isEmpty();
  }

  @Test
  void dropsWhatFitsInNoRequest() {
    put("fits", "does not", "fits too");
    Staging staging = staging(Framing.CHUNK_PER_SPAN, 7);

    assertThat(text(staging.fitting(7))).isEqualTo("4\r\nfits\r\n");
    assertThat(staging.oldest()).isZero();
    staging.moveBegun(1, request);
    assertThat(staging.hasMore()).isFalse();
    assertThat(ledger.counts().tooLarge()).isEqualTo(2);
    assertThat(staging.oldest()).isEqualTo(3);
  }

  @ParameterizedTest
  @EnumSource(Framing.class)
  void givesUpWhatAnErrorLeftUnframed(Framing framing) {
    queue.add(new Part("s", "one"));
    queue.add(
        new Part("s", "two") {
          @Override
          public void copyTo(ByteBuffer out) {
            throw new OutOfMemoryError("no direct memory");
          }
        });
    queue.add(new Part("s", "three"));
    Staging staging = staging(framing);
    assertThatThrownBy(() -> staging.fitting(REQUEST_BYTES)).isInstanceOf(OutOfMemoryError.class);
    staging.giveUpAll();

    assertThat(ledger.counts().givenUp()).isEqualTo(3);
    assertThat(released).isEqualTo(3);
    assertThat(staging.hasMore()).isFalse();
  }

  @Test
  void givesUpWhatItHasAndWhatTheQueueHas() {
    put("one", "two", "three");
    Staging staging = staging(Framing.CHUNK_PER_SPAN);
    staging.fitting(6);
    staging.giveUpAll();

    assertThat(ledger.counts().givenUp()).isEqualTo(3);
    assertThat(released).isEqualTo(3);
    assertThat(staging.hasMore()).isFalse();
  }
}
