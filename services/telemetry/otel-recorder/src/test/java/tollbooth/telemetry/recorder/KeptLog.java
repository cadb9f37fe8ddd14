package tollbooth.telemetry.recorder;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;

/** Keeps what is logged. */
final class KeptLog extends Handler {

  final Queue<LogRecord> records = new ConcurrentLinkedQueue<>();

  @Override
  public void publish(LogRecord logged) {
    records.add(logged);
  }

  @Override
  public void flush() {}

  @Override
  public void close() {}
}
