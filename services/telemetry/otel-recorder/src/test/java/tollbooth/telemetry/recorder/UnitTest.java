package tollbooth.telemetry.recorder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnitTest {

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

  private static String chunk(Message... messages) {
    return text(new Unit().chunk(List.of(messages), 0, messages.length).buffers());
  }

  @Test
  void putsNoHeadBeforeACompleteMessage() {
    assertThat(chunk(new Part(null, "complete"))).isEqualTo("8\r\ncomplete\r\n");
  }

  @Test
  void putsOneHeadBeforeMessagesOfOneScope() {
    assertThat(
            chunk(
                new Part("A", "one"), new Part("A", "two"), new Part("B", "x"), new Part("A", "y")))
        .isEqualTo("e\r\nA6onetwoB1xA1y\r\n");
  }

  @Test
  void sendsAMessageFromItsFirstByteAgain() {
    Part part = new Part("A", "again");
    chunk(part);

    assertThat(chunk(part)).isEqualTo("7\r\nA5again\r\n");
  }

  @Test
  void servesAgain() {
    Unit unit = new Unit();
    List<Message> messages = List.of(new Part(null, "one"), new Part(null, "x".repeat(4_095)));
    assertThat(text(unit.chunk(messages, 1, 2).buffers())).startsWith("fff\r\nxxx");
    assertThat(unit.isBegun()).isTrue();
    assertThat(unit.isWritten()).isTrue();

    assertThat(text(unit.frame(ByteBuffer.wrap(new byte[] {'h'})).buffers())).isEqualTo("h");
    assertThat(unit.spans()).isZero();

    unit.chunk(messages, 0, 1);
    assertThat(unit.isBegun()).isFalse();
    assertThat(unit.isWritten()).isFalse();
    assertThat(unit.spans()).isEqualTo(1);
    assertThat(text(unit.buffers())).isEqualTo("3\r\none\r\n");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 9, 15, 16, 255, 256, 65_535, 65_536, 1_048_576})
  void saysTheSizeInHexadecimalDigits(int bytes) {
    assertThat(chunk(new Part(null, "x".repeat(bytes))))
        .startsWith(Integer.toHexString(bytes) + "\r\nx");
  }
}
