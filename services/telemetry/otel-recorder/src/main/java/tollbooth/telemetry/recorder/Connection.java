package tollbooth.telemetry.recorder;

import java.io.EOFException;
import java.io.IOException;
import java.lang.System.Logger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * One endpoint's connection, with at most one unanswered request. Reconnects by itself. Only the
 * recorder's thread uses it.
 */
final class Connection {

  private static final Logger LOG = System.getLogger(Connection.class.getName());

  private static final int INPUT_BYTES = 1 << 13;

  private enum State {
    CLOSED,
    /** Its name is looked up. */
    RESOLVING,
    CONNECTING,
    /** No request. */
    IDLE,
    /** A request takes spans. */
    OPEN,
    /** The request's last chunk is written or in the outbox. */
    ENDED
  }

  private final Endpoint endpoint;
  private final RecorderSettings settings;
  private final Selector selector;
  private final Segments segments;
  private final Settlement settlement;
  private final Executor resolvers;
  private final Runnable wake;
  private final Outbox outbox = new Outbox();
  private final ByteBuffer input = ByteBuffer.allocateDirect(INPUT_BYTES);

  /** Of every request. */
  private final ByteBuffer head;

  private State state = State.CLOSED;
  private CompletableFuture<InetAddress> address;
  private SocketChannel channel;
  private AnswerReader answers;
  private Batch batch;
  private int failures;
  private long connectAtNanos;

  /** Until then its endpoint wants no request. */
  private long resumesAtNanos;

  private long openedAtNanos;
  private long progressAtNanos;

  /**
   * Makes one that connects at its first {@link #tick}.
   *
   * @param resolvers runs what looks a name up, in another thread
   * @param wake makes the recorder's thread look at its connections; any thread may call it
   */
  Connection(
      Endpoint endpoint,
      RecorderSettings settings,
      Selector selector,
      Segments segments,
      Settlement settlement,
      Executor resolvers,
      Runnable wake,
      long nowNanos) {
    this.endpoint = endpoint;
    this.settings = settings;
    this.selector = selector;
    this.segments = segments;
    this.settlement = settlement;
    this.resolvers = resolvers;
    this.wake = wake;
    head = Frames.head(endpoint, settings);
    connectAtNanos = nowNanos;
    resumesAtNanos = nowNanos;
  }

  /** Whether a request can begin. */
  boolean isIdle(long nowNanos) {
    return state == State.IDLE && resumesAtNanos - nowNanos <= 0;
  }

  /** Whether its endpoint has taken the connection, and wants requests. */
  boolean isServing(long nowNanos) {
    return switch (state) {
      case CLOSED, RESOLVING, CONNECTING -> false;
      case IDLE -> isIdle(nowNanos);
      case OPEN, ENDED -> true;
    };
  }

  /** Whether it takes fresh spans. */
  boolean takesSpans(boolean mayOpen, long nowNanos) {
    return outbox.isEmpty() && (state == State.OPEN || mayOpen && isIdle(nowNanos));
  }

  /** The lowest sequence of its unanswered spans. */
  long oldest() {
    return batch == null ? Long.MAX_VALUE : batch.oldest();
  }

  /** Does what is due: connects, ends a request that is old enough, gives up waiting. */
  void tick(long nowNanos) {
    if (state == State.CLOSED && connectAtNanos - nowNanos <= 0) {
      resolve(nowNanos);
    } else if (state == State.RESOLVING && address.isDone()) {
      connect(nowNanos);
    } else if (state == State.OPEN && nowNanos - openedAtNanos >= settings.requestAge().toNanos()) {
      end(nowNanos);
    } else if (isWaiting() && nowNanos - progressAtNanos >= settings.timeout().toNanos()) {
      fail(new IOException("no progress for " + settings.timeout().toMillis() + " ms"), nowNanos);
    }
  }

  /** The time until {@link #tick} has something to do; the limit if that is later. */
  long nanosUntilDue(long nowNanos, long limit) {
    long due =
        switch (state) {
          case CLOSED -> connectAtNanos - nowNanos;
          case IDLE -> isIdle(nowNanos) ? limit : resumesAtNanos - nowNanos;
          case OPEN -> openedAtNanos + settings.requestAge().toNanos() - nowNanos;
          case RESOLVING, CONNECTING, ENDED ->
              progressAtNanos + settings.timeout().toNanos() - nowNanos;
        };
    return Math.clamp(due, 0, limit);
  }

  private boolean isWaiting() {
    return state == State.RESOLVING || state == State.CONNECTING || state == State.ENDED;
  }

  /**
   * Sends fresh spans, as many as the socket takes. Only if {@link #takesSpans}.
   *
   * @return whether any byte of a span was written
   */
  boolean send(Staging staging, long nowNanos) {
    if (!staging.hasMore()) {
      return false;
    }
    if (state == State.IDLE) {
      open(new Batch(segments), nowNanos);
    }
    ByteBuffer chunks = staging.fitting(settings.requestBytes() - batch.bytes());
    if (!chunks.hasRemaining()) {
      end(nowNanos);
      return false;
    }
    return write(chunks, staging, nowNanos);
  }

  private boolean write(ByteBuffer chunks, Staging staging, long nowNanos) {
    try {
      int start = chunks.position();
      long written = outbox.writeTo(channel, chunks);
      int begun = chunks.position() - start;
      batch.lastBytes(staging.moveBegun(begun, batch)).forEach(outbox::add);
      wrote(written, !chunks.hasRemaining(), nowNanos);
      return begun > 0;
    } catch (IOException lost) {
      fail(lost, nowNanos);
      return false;
    }
  }

  /** Sends a batch once more, as a request of its own. Only if {@link #isIdle}. */
  void sendAgain(Batch again, long nowNanos) {
    open(again, nowNanos);
    again.chunks().forEach(outbox::add);
    end(nowNanos);
  }

  private void open(Batch opened, long nowNanos) {
    batch = opened;
    batch.sentBy(this);
    state = State.OPEN;
    openedAtNanos = nowNanos;
    outbox.add(head.duplicate());
  }

  /** Ends an open request whose spans are awaited: nothing older is in the staging. */
  void endIfAwaited(long target, long nowNanos) {
    if (state == State.OPEN && oldest() < target) {
      end(nowNanos);
    }
  }

  private void end(long nowNanos) {
    outbox.add(Frames.lastChunk());
    state = State.ENDED;
    progressAtNanos = nowNanos;
    write(nowNanos);
  }

  /** Writes what is due, as much as the socket takes. */
  private void write(long nowNanos) {
    try {
      long written = outbox.writeTo(channel);
      wrote(written, outbox.isEmpty(), nowNanos);
    } catch (IOException lost) {
      fail(lost, nowNanos);
    }
  }

  /** Registers for the event that the socket takes the rest. */
  private void wrote(long bytes, boolean all, long nowNanos) {
    if (bytes > 0) {
      progressAtNanos = nowNanos;
    }
    int writing = all ? 0 : SelectionKey.OP_WRITE;
    channel.keyFor(selector).interestOps(SelectionKey.OP_READ | writing);
  }

  /** The selector says that the socket is ready. */
  void ready(SelectionKey key, long nowNanos) {
    try {
      if (key.isConnectable()) {
        channel.finishConnect();
        connected(key);
        return;
      }
      if (key.isReadable()) {
        read(nowNanos);
      }
      if (key.isValid() && key.isWritable()) {
        write(nowNanos);
      }
    } catch (IOException lost) {
      fail(lost, nowNanos);
    }
  }

  /**
   * Looks the name up, each time anew: it may move to another address. In a thread of its own,
   * since a slow resolver must not stop the other connections. One that still looks it up is
   * awaited further: else each attempt would leave a thread behind.
   */
  private void resolve(long nowNanos) {
    state = State.RESOLVING;
    progressAtNanos = nowNanos;
    if (address != null && !address.isDone()) {
      return;
    }
    CompletableFuture<InetAddress> found = new CompletableFuture<>();
    try {
      resolvers.execute(() -> lookUp(found));
      address = found;
    } catch (Throwable noThread) {
      // An Error where the process can have no more threads. Later it may have one for this again.
      fail(new IOException("no thread to look its name up: " + noThread, noThread), nowNanos);
    }
  }

  private void lookUp(CompletableFuture<InetAddress> found) {
    try {
      found.complete(InetAddress.getByName(endpoint.resolvable()));
    } catch (Throwable unknown) {
      found.completeExceptionally(unknown);
    }
    wake.run();
  }

  private void connect(long nowNanos) {
    try {
      if (address.isCompletedExceptionally()) {
        throw new UnknownHostException(endpoint.host());
      }
      channel = SocketChannel.open();
      channel.configureBlocking(false);
      channel.setOption(StandardSocketOptions.SO_SNDBUF, settings.sendBufferBytes());
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      state = State.CONNECTING;
      progressAtNanos = nowNanos;
      answers = new AnswerReader();
      SelectionKey key = channel.register(selector, SelectionKey.OP_CONNECT, this);
      if (channel.connect(new InetSocketAddress(address.resultNow(), endpoint.port()))) {
        connected(key);
      }
    } catch (IOException | RuntimeException unreachable) {
      // The latter where the JVM has no sockets for such an address.
      fail(unreachable, nowNanos);
    }
  }

  private void connected(SelectionKey key) {
    state = State.IDLE;
    key.interestOps(SelectionKey.OP_READ);
  }

  private void read(long nowNanos) throws IOException {
    int bytes = channel.read(input.clear());
    input.flip();
    Answer answer = bytes < 0 ? answers.end() : answers.read(input);
    if (answer != null) {
      answered(answer, nowNanos);
    } else if (bytes < 0) {
      ended(nowNanos);
    }
  }

  private void answered(Answer answer, long nowNanos) throws ProtocolException {
    if (batch == null) {
      throw new ProtocolException("an answer without a request");
    }
    boolean complete = state == State.ENDED && outbox.isEmpty();
    if (answer.isSuccess() && !complete) {
      throw new ProtocolException("success before the end of the request");
    }
    Batch settled = batch;
    batch = null;
    failures = 0;
    resumesAtNanos = nowNanos + settlement.answered(settled, answer, nowNanos).toNanos();
    if (complete && answer.keepsConnection() && !input.hasRemaining()) {
      state = State.IDLE;
    } else {
      // An answer before the end of its request: the rest of the request is of no use.
      disconnect();
      connectAtNanos = nowNanos;
    }
  }

  private void ended(long nowNanos) throws EOFException {
    if (batch != null || failures > 0) {
      throw new EOFException("the endpoint closed the connection");
    }
    // Endpoints close connections that were idle for long: no failure, but no reason to hurry.
    disconnect();
    connectAtNanos = nowNanos + settings.flushInterval().toNanos();
  }

  private void fail(Exception reason, long nowNanos) {
    disconnect();
    failures++;
    connectAtNanos = nowNanos + Retry.backoff(failures).toNanos();
    if (failures == 1) {
      LOG.log(Logger.Level.WARNING, "no traces to " + endpoint.authority() + ": " + reason);
    }
    if (batch != null) {
      Batch unanswered = batch;
      batch = null;
      settlement.lost(unanswered, nowNanos);
    }
  }

  private void disconnect() {
    state = State.CLOSED;
    outbox.clear();
    if (channel == null) {
      return;
    }
    try {
      channel.close();
    } catch (IOException alreadyBroken) {
      LOG.log(Logger.Level.DEBUG, "closing " + endpoint.authority(), alreadyBroken);
    }
    channel = null;
  }

  /** Gives up the unanswered request. */
  void close() {
    disconnect();
    if (batch != null) {
      settlement.giveUp(batch);
      batch = null;
    }
  }
}
