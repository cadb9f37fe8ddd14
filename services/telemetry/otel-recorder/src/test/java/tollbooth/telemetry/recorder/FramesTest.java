package tollbooth.telemetry.recorder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

class FramesTest {

  /** A message that is its text. A scope has a head, which says how many bytes follow. */
  private static final class Part extends Message {

    private final String scope;
    private final ByteBuffer text;

    Part(String scope, String text) {
      this.scope = scope;
      this.text = ByteBuffer.wrap(text.getBytes(ISO_8859_1));
    }

    @Override
    public int sizeBytes() {
      return text.limit();
    }

    @Override
    public ByteBuffer[] buffers() {
      return new ByteBuffer[] {text};
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
    public void release() {}
  }

  private static String text(List<ByteBuffer> buffers) {
    StringBuilder text = new StringBuilder();
    buffers.forEach(buffer -> text.append(ISO_8859_1.decode(buffer)));
    return text.toString();
  }

  @Test
  void putsNoHeadBeforeACompleteMessage() {
    assertThat(text(Frames.chunk(List.of(new Part(null, "complete")))))
        .isEqualTo("8\r\ncomplete\r\n");
  }

  @Test
  void putsOneHeadBeforeMessagesOfOneScope() {
    List<Message> messages =
        List.of(new Part("A", "one"), new Part("A", "two"), new Part("B", "x"), new Part("A", "y"));

    assertThat(text(Frames.chunk(messages))).isEqualTo("e\r\nA6onetwoB1xA1y\r\n");
  }

  @Test
  void sendsAMessageFromItsFirstByteAgain() {
    Part part = new Part("A", "again");
    text(Frames.chunk(List.of(part)));

    assertThat(text(Frames.chunk(List.of(part)))).isEqualTo("7\r\nA5again\r\n");
  }
}
