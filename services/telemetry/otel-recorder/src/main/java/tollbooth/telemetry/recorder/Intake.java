package tollbooth.telemetry.recorder;

import java.util.ArrayDeque;
import java.util.Deque;

/** The fresh messages: those given back by a connection first, then the queue's. */
final class Intake {

  private final Source source;
  private final Ledger ledger;
  private final int mostBytes;
  private final Deque<Message> returned = new ArrayDeque<>();
  private long taken;

  Intake(Source source, Ledger ledger, int mostBytes) {
    this.source = source;
    this.ledger = ledger;
    this.mostBytes = mostBytes;
  }

  /** The next message, which stays; null if there is none. Drops those that fit in no request. */
  Message head() {
    while (returned.isEmpty()) {
      Message message = source.poll();
      if (message == null) {
        return null;
      }
      message.sequence = taken++;
      if (message.sizeBytes() <= mostBytes) {
        returned.add(message);
      } else {
        ledger.countTooLarge();
        message.release();
      }
    }
    return returned.getFirst();
  }

  /** Takes the message that {@link #head} returned. */
  Message remove() {
    return returned.removeFirst();
  }

  /** Gives a message back; of several, the last one first. */
  void giveBack(Message message) {
    returned.addFirst(message);
  }

  /** The lowest sequence that no connection has: all below left the intake. */
  long oldest() {
    return returned.isEmpty() ? taken : returned.getFirst().sequence;
  }
}
