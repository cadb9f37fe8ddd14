package tollbooth.telemetry.recorder;

import java.util.ArrayList;
import java.util.List;

/** The spans of one request, kept until its answer. */
final class Batch {

  private final List<Message> messages = new ArrayList<>();
  private long bytes;
  private int attempts = 1;
  private long notBeforeNanos;

  void add(Message message) {
    messages.add(message);
    bytes += message.sizeBytes();
  }

  /** Takes the last message out again: no byte of it has left. */
  Message removeLast() {
    Message message = messages.removeLast();
    bytes -= message.sizeBytes();
    return message;
  }

  List<Message> messages() {
    return messages;
  }

  int spans() {
    return messages.size();
  }

  /** Without framing. */
  long bytes() {
    return bytes;
  }

  int attempts() {
    return attempts;
  }

  /** The lowest sequence of its messages, which are in order. */
  long oldest() {
    return messages.isEmpty() ? Long.MAX_VALUE : messages.getFirst().sequence;
  }

  /** Prepares one more sending, at this time or later. */
  void retryAt(long nanos) {
    attempts++;
    notBeforeNanos = nanos;
  }

  long notBeforeNanos() {
    return notBeforeNanos;
  }

  void release() {
    messages.forEach(Message::release);
  }
}
