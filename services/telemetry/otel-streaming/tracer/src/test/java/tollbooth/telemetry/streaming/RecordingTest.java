package tollbooth.telemetry.streaming;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.Attributes;
import org.junit.jupiter.api.Test;

/** Values that later ones replace, before the span ends. */
class RecordingTest {

  private final BufferPool buffers = new BufferPool(64);
  private final Recording recording = new Recording(buffers, Limits.DEFAULT, buffers.take());
  private final SpanWriter writer =
      new SpanWriter(new OtlpFormat(Attributes.empty()), Limits.DEFAULT);

  private void replace(int times) {
    for (int i = 0; i <= times; i++) {
      writer.attribute(recording, "progress", i);
    }
  }

  @Test
  void compactsNoUsualSpan() {
    replace(40);
    int length = recording.chain.length();
    recording.removeReplaced();

    assertThat(length).isGreaterThan(40 * recording.chain.length());
  }

  /** Few enough for one buffer, so that only what is known of them is large. */
  @Test
  void isSmallAgainWhenItIsCleared() {
    assertThat(recording.holdsMore()).isFalse();
    for (int i = 0; i < 80; i++) {
      writer.attribute(recording, "k", i);
    }
    assertThat(buffers.existing()).isEqualTo(1);
    assertThat(recording.holdsMore()).isTrue();

    recording.clear();
    assertThat(recording.holdsMore()).isFalse();
  }

  @Test
  void keepsLittleOfManyAttributes() {
    Limits limits = new Limits(200, 0, 0, 0, 0, 0, 0);
    Recording many = new Recording(buffers, limits, buffers.take());
    for (int i = 0; i < 1_000; i++) {
      many.open(new Key("loose" + i, Key.NONE, new byte[0]));
    }
    assertThat(many.droppedAttributes()).isEqualTo(800);
    assertThat(many.looseNames).hasSize(200);

    many.looseNames = null;
    assertThat(many.holdsMore()).isTrue();
    many.clear();
    assertThat(many.holdsMore()).isFalse();
  }
}
