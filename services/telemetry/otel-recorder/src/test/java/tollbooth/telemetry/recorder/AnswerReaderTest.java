package tollbooth.telemetry.recorder;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.ProtocolException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerReaderTest {

  private static final String WITH_LENGTH =
      "HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 5\r\n\r\nhello";

  private static final String CHUNKED =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "2;x=y\r\nhe\r\n3\r\nllo\r\n0\r\nTrailer: x\r\n\r\n";

  @ParameterizedTest
  @ValueSource(strings = {WITH_LENGTH, CHUNKED})
  void readsAnAnswerInPiecesOfEverySize(String text) throws Exception {
    for (int size = 1; size <= text.length(); size++) {
      Answer answer = readInPieces(text, size);
      assertThat(answer.status()).isEqualTo(200);
      assertThat(answer.keepsConnection()).isTrue();
      assertThat(answer.retryAfter()).isNull();
      assertThat(answer.body()).asString(ISO_8859_1).isEqualTo("hello");
    }
  }

  private static Answer readInPieces(String text, int size) throws ProtocolException {
    AnswerReader reader = new AnswerReader();
    for (int start = 0; start < text.length(); start += size) {
      int end = Math.min(start + size, text.length());
      Answer answer = reader.read(bytes(text.substring(start, end)));
      if (answer != null) {
        assertThat(end).isEqualTo(text.length());
        return answer;
      }
    }
    throw new AssertionError("not complete");
  }

  @Test
  void readsAnswersInARow() throws Exception {
    AnswerReader reader = new AnswerReader();
    ByteBuffer input =
        bytes(
            "HTTP/1.1 503 Busy\r\nretry-after:  7 \r\ncontent-length: 0\r\nConnection: Close\r\n\r\n"
                + "HTTP/1.1 204 No Content\r\n\r\n");

    assertThat(reader.read(input))
        .usingRecursiveComparison()
        .isEqualTo(new Answer(503, "7", false, new byte[0]));
    assertThat(reader.read(input))
        .usingRecursiveComparison()
        .isEqualTo(new Answer(204, null, true, new byte[0]));
    assertThat(input.hasRemaining()).isFalse();
  }

  @Test
  void takesTheConnectionsEndAsTheBodysEndOnlyWithoutALength() throws Exception {
    AnswerReader open = new AnswerReader();
    assertThat(open.read(bytes("HTTP/1.0 400 Bad\r\n\r\nno"))).isNull();
    assertThat(open.end())
        .usingRecursiveComparison()
        .isEqualTo(new Answer(400, null, false, "no".getBytes(ISO_8859_1)));

    AnswerReader cut = new AnswerReader();
    assertThat(cut.read(bytes("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nno"))).isNull();
    assertThat(cut.end()).isNull();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "garbage\r\n",
        "HTTP/2 200 OK\r\n",
        "HTTP/1.1 20 OK\r\n",
        "HTTP/1.1 200 OK\r\nno header\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"
      })
  void rejectsWhatIsNoAnswer(String text) {
    assertThatThrownBy(() -> new AnswerReader().read(bytes(text)))
        .isInstanceOf(ProtocolException.class);
  }

  @Test
  void boundsWhatItKeeps() {
    ByteBuffer endless = bytes("x".repeat(10_000));
    assertThatThrownBy(() -> new AnswerReader().read(endless))
        .isInstanceOf(ProtocolException.class);

    ByteBuffer body = bytes("HTTP/1.1 200 OK\r\n\r\n" + "x".repeat(70_000));
    assertThatThrownBy(() -> new AnswerReader().read(body)).isInstanceOf(ProtocolException.class);
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(ISO_8859_1));
  }
}
