package tollbooth.telemetry.streaming;

import java.util.Queue;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;

/** Recordings for reuse, each with its first buffer. */
final class RecordingPool {

  private static final int LEAST_KEPT = 2;
  private static final int MOST_KEPT = 4096;

  private final Queue<Recording> free;
  private final BufferPool buffers;
  private final Limits limits;

  RecordingPool(BufferPool buffers, Limits limits) {
    this.buffers = buffers;
    this.limits = limits;
    // The other buffers remain for spans that need more than one.
    free = new MpmcAtomicArrayQueue<>(Math.clamp(buffers.most() / 4, LEAST_KEPT, MOST_KEPT));
  }

  /** An empty recording; null if no buffer is left. Never blocks. */
  Recording take() {
    Recording recording = free.poll();
    if (recording == null) {
      return create();
    }
    // Here, and not where it is given back: the thread that fills it also needs what that changes.
    recording.clear();
    return recording;
  }

  private Recording create() {
    Buffer first = buffers.take();
    return first == null ? null : new Recording(buffers, limits, first);
  }

  /** Takes back a recording and its buffers. */
  void give(Recording recording) {
    if (recording.holdsMore()) {
      recording.clear();
    }
    if (!free.offer(recording)) {
      buffers.give(recording.chain.head());
    }
  }
}
