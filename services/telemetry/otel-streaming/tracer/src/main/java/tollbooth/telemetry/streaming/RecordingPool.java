package tollbooth.telemetry.streaming;

import java.util.Queue;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;

/** Recordings for reuse. */
final class RecordingPool {

  private static final int KEPT = 4096;

  private final Queue<Recording> free = new MpmcAtomicArrayQueue<>(KEPT);
  private final BufferPool buffers;
  private final Limits limits;

  RecordingPool(BufferPool buffers, Limits limits) {
    this.buffers = buffers;
    this.limits = limits;
  }

  /** An empty recording; null if no buffer is left. Never blocks. */
  Recording take() {
    Recording recording = free.poll();
    if (recording == null) {
      recording = new Recording(buffers, limits);
    }
    if (recording.chain.begin()) {
      return recording;
    }
    free.offer(recording);
    return null;
  }

  /** Takes back a recording and its buffers. */
  void give(Recording recording) {
    recording.chain.release();
    recording.reset();
    free.offer(recording);
  }
}
