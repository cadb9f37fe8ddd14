package tollbooth.telemetry.recorder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tollbooth.telemetry.recorder.Ledger.Counts;

@Timeout(60)
class DiscarderTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int SIZE = BytesMessage.LEAST_BYTES;

  private final QueueSource source = new QueueSource();

  @Test
  void acknowledgesWhatItDrops() {
    try (Discarder discarder = Discarder.start(source, source.ledger, LONG)) {
      source.put(0, 100, SIZE);
      assertThat(discarder.flush(LONG)).isTrue();
      assertThat(source.ledger.counts()).isEqualTo(new Counts(100, 100, 0, 0, 0, 0, 0));
      assertThat(source.releases).hasValue(100);

      source.put(100, 1, SIZE);
    }
    assertThat(source.ledger.counts()).isEqualTo(new Counts(101, 101, 0, 0, 0, 0, 0));
    assertThat(source.closed).isTrue();
  }

  @Test
  void looksAtTheQueueByItself() {
    try (Discarder discarder = Discarder.start(source, source.ledger, Duration.ofMillis(10))) {
      source.put(0, 1, SIZE);
      await().until(() -> source.ledger.counts().acknowledged() == 1);
      assertThat(discarder.flush(LONG)).isTrue();
    }
  }

  @Test
  void answersWhereMessagesNeverCease() {
    source.endless = true;
    Discarder discarder = Discarder.start(source, source.ledger, LONG);
    source.put(0, 1, SIZE);
    assertThat(discarder.flush(LONG)).isTrue();
    discarder.close();

    assertThat(source.closed).isTrue();
  }

  @Test
  void doesNotWaitForWhatComesAfterItsEnd() {
    Discarder discarder = Discarder.start(source, source.ledger, LONG);
    discarder.close();
    source.put(0, 1, SIZE);

    assertThat(discarder.flush(LONG)).isFalse();
  }
}
