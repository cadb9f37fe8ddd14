package tollbooth.benchmarks;

import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import tollbooth.grpc.proto.MockRequest;
import tollbooth.grpc.proto.MockResponse;
import tollbooth.grpc.testing.GrpcCaller;
import tollbooth.svcb.Application;
import tollbooth.web.testing.RunningNode;
import tollbooth.web.testing.Topologies;

/**
 * How long a client waits for svc-b, which asks nobody: over the network's loopback, and with the
 * client's own part, so what svc-b adds is less.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 5)
@Measurement(iterations = 5, time = 5)
@Fork(1)
public class MockBenchmark {

  /**
   * Requests before the first that counts. At 10 ms each, JMH's own warm-up would be over before
   * the compiler has seen the code often enough.
   */
  private static final int WARM_UP_REQUESTS = 30_000;

  /** What the request asks svc-b to wait. */
  @Param({"0", "10"})
  public int latencyMs;

  private RunningNode node;
  private GrpcCaller client;
  private MockRequest request;

  /** Starts the service and a client of it, and warms both up. */
  @Setup(Level.Trial)
  public void start() {
    node =
        RunningNode.start(
            Application.class,
            RunningNode.settings("s1", Topologies.GRPC, name -> URI.create("http://" + name)));
    client = GrpcCaller.of(node);
    request = MockRequest.newBuilder().setLatency(latencyMs).build();
    for (int asked = 0; asked < WARM_UP_REQUESTS; asked++) {
      client.ask(MockRequest.getDefaultInstance());
    }
  }

  /** Stops both. */
  @TearDown(Level.Trial)
  public void stop() {
    client.close();
    node.close();
  }

  /** One request at a time. */
  @Benchmark
  public MockResponse ask() {
    return client.ask(request);
  }
}
