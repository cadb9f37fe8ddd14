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
 * How long a client waits for svc-b, which calls no peer. The time includes the loopback network
 * and the client, so svc-b adds less.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 3, time = 5)
@Measurement(iterations = 5, time = 5)
@Fork(1)
public class MockBenchmark {

  /**
   * Requests before the measurement. At 10 ms each, JMH's own warm-up would end before the code is
   * compiled.
   */
  private static final int WARM_UP_REQUESTS = 30_000;

  /** The latency that the request sets. */
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
    for (int sent = 0; sent < WARM_UP_REQUESTS; sent++) {
      client.call(MockRequest.getDefaultInstance());
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
  public MockResponse call() {
    return client.call(request);
  }
}
