package tollbooth.telemetry.recorder;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger;
import java.nio.channels.Selector;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Sends a queue's spans to several endpoints from one thread. {@link Routing} says which connection
 * a span goes to. Spans of one trace may go to different endpoints.
 */
public final class Recorder implements Sender {

  private static final Logger LOG = System.getLogger(Recorder.class.getName());

  private final Source source;
  private final RecorderSettings settings;
  private final Selector selector;

  /** Held while the selector is woken or closed. It holds its own monitor while it waits. */
  private final Object waking = new Object();

  private final Staging staging;
  private final Settlement settlement;
  private final LookInterval look;
  private final List<Connection> connections = new ArrayList<>();
  private final Queue<Flush> flushes = new ConcurrentLinkedQueue<>();
  private final Thread thread;
  private volatile boolean closing;
  private volatile boolean ended;

  /** The connection that is checked first. */
  private int first;

  /** The connection whose turn it is. */
  private int turn;

  /** Waits until all messages below the target are settled. */
  private record Flush(long target, CompletableFuture<Boolean> done) {}

  private Recorder(
      Source source,
      Ledger ledger,
      RecorderSettings settings,
      Selector selector,
      Executor resolvers) {
    this.source = source;
    this.settings = settings;
    this.selector = selector;
    Segments segments = new Segments();
    staging = new Staging(source, ledger, settings, segments);
    settlement = new Settlement(ledger, InstantSource.system());
    look = new LookInterval(settings.flushInterval());
    for (Endpoint endpoint : settings.endpoints()) {
      connections.add(
          new Connection(
              endpoint,
              settings,
              selector,
              segments,
              settlement,
              resolvers,
              this::wake,
              System.nanoTime()));
    }
    thread = Thread.ofPlatform().daemon().name("span-recorder").unstarted(this::run);
  }

  /** Starts to send. */
  public static Recorder start(Source source, Ledger ledger, RecorderSettings settings) {
    return start(source, ledger, settings, Recorder::startResolver);
  }

  private static void startResolver(Runnable lookUp) {
    Thread.ofPlatform().daemon().name("span-resolver").start(lookUp);
  }

  /**
   * Starts to send.
   *
   * @param resolvers runs what looks a name up, in another thread
   */
  static Recorder start(
      Source source, Ledger ledger, RecorderSettings settings, Executor resolvers) {
    try {
      Recorder recorder = new Recorder(source, ledger, settings, Selector.open(), resolvers);
      recorder.thread.start();
      return recorder;
    } catch (IOException noSelector) {
      throw new UncheckedIOException(noSelector);
    }
  }

  @Override
  public void wake() {
    synchronized (waking) {
      if (selector.isOpen()) {
        selector.wakeup();
      }
    }
  }

  @Override
  public boolean flush(Duration timeout) {
    Flush flush = new Flush(source.offered(), new CompletableFuture<>());
    flushes.add(flush);
    wake();
    if (ended) {
      flush.done().complete(false);
    }
    try {
      return flush.done().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException | TimeoutException late) {
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      // Otherwise, while no endpoint takes spans, more and more would be kept and looked at.
      flushes.remove(flush);
    }
  }

  @Override
  public void close(Duration timeout) {
    if (!closing) {
      flush(timeout);
      closing = true;
      wake();
    }
    try {
      thread.join(CLOSE_TIMEOUT);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try {
      while (!closing) {
        turn();
      }
      closeSelector();
    } catch (IOException | RuntimeException | Error broken) {
      LOG.log(Logger.Level.ERROR, "the recorder ends", broken);
    } finally {
      giveUpAll();
    }
  }

  /** Not while another thread wakes it. */
  private void closeSelector() throws IOException {
    synchronized (waking) {
      selector.close();
    }
  }

  private void turn() throws IOException {
    long nowNanos = System.nanoTime();
    connections.forEach(connection -> connection.tick(nowNanos));
    distribute(nowNanos);
    serveFlushes(nowNanos);
    long waitNanos = nanosUntilDue(System.nanoTime());
    // Rounded up: 0 would mean for ever, and less than the time would cost another turn.
    selector.select(
        key -> ((Connection) key.attachment()).ready(key, System.nanoTime()),
        TimeUnit.NANOSECONDS.toMillis(waitNanos) + 1);
  }

  /**
   * Sends batches that are due again, then fresh spans, until no connection takes more. In this
   * order, so that an endpoint under load takes a due batch between two requests.
   */
  private void distribute(long nowNanos) {
    first = (first + 1) % connections.size();
    for (int i = 0; i < connections.size(); i++) {
      sendAgain(fromFirst(i), nowNanos);
    }
    switch (settings.routing()) {
      case ANY_WRITABLE -> sendToAny(nowNanos);
      case ROUND_ROBIN -> sendInTurn(nowNanos);
    }
  }

  private Connection fromFirst(int distance) {
    return connections.get((first + distance) % connections.size());
  }

  private void sendAgain(Connection connection, long nowNanos) {
    if (!connection.isIdle(nowNanos)) {
      return;
    }
    Batch again = settlement.due(connection, isAlone(connection, nowNanos), nowNanos);
    if (again != null) {
      connection.sendAgain(again, nowNanos);
    }
  }

  /**
   * Whether no other connection serves. Otherwise one leaves to the others what it failed to send:
   * it is often the only idle one, just because its endpoint takes nothing.
   */
  private boolean isAlone(Connection connection, long nowNanos) {
    return connections.stream()
        .noneMatch(other -> other != connection && other.isServing(nowNanos));
  }

  private void sendToAny(long nowNanos) {
    boolean progress = true;
    while (progress) {
      progress = false;
      for (int i = 0; i < connections.size(); i++) {
        Connection connection = fromFirst(i);
        boolean takes = connection.takesSpans(mayOpen(), nowNanos);
        progress |= takes && connection.send(staging, nowNanos);
      }
    }
  }

  private void sendInTurn(long nowNanos) {
    int passed = 0;
    while (passed < connections.size() && staging.hasMore()) {
      Connection connection = connections.get(turn);
      if (!connection.isServing(nowNanos)) {
        passed++;
      } else if (!connection.takesSpans(mayOpen(), nowNanos)) {
        return;
      } else if (!connection.send(staging, nowNanos)
          && connection.takesSpans(mayOpen(), nowNanos)) {
        // Its socket is full. If instead the request is, or the connection is lost, the turn ends.
        return;
      } else {
        passed = 0;
      }
      turn = (turn + 1) % connections.size();
    }
  }

  /** Whether one more request stays within the bound, if every connection's one gets full. */
  private boolean mayOpen() {
    long requests = (long) connections.size() * settings.requestBytes();
    return settlement.waitingBytes() + requests <= settings.retainedBytes();
  }

  private void serveFlushes(long nowNanos) {
    for (Flush flush : flushes) {
      if (staging.oldest() >= flush.target()) {
        connections.forEach(connection -> connection.endIfAwaited(flush.target(), nowNanos));
      }
      if (oldest() >= flush.target()) {
        flush.done().complete(true);
      }
    }
  }

  /** The lowest sequence that is not settled. */
  private long oldest() {
    long unanswered = Long.MAX_VALUE;
    for (Connection connection : connections) {
      unanswered = Math.min(unanswered, connection.oldest());
    }
    return Math.min(staging.oldest(), Math.min(unanswered, settlement.oldest()));
  }

  private long nanosUntilDue(long nowNanos) {
    long limit = look.nextNanos(source.offered(), nowNanos);
    long due = limit;
    for (Connection connection : connections) {
      due = Math.min(due, connection.nanosUntilDue(nowNanos, limit));
      // Otherwise a due batch waits for an idle connection, and the selector signals when.
      if (connection.isIdle(nowNanos)) {
        boolean alone = isAlone(connection, nowNanos);
        due = Math.min(due, settlement.nanosUntilDue(connection, alone, nowNanos, limit));
      }
    }
    return due;
  }

  private void giveUpAll() {
    connections.forEach(Connection::close);
    settlement.giveUpAll();
    staging.giveUpAll();
    source.close();
    ended = true;
    flushes.forEach(flush -> flush.done().complete(false));
  }
}
