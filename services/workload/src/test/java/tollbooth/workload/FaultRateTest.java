package tollbooth.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Optional;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults as a client meets them: runs of 10,000 requests, each with its own number. */
class FaultRateTest {

  private static final int REQUESTS = 10_000;
  private static final int SEEDS = 40;

  private static final Topology TOPOLOGY =
      Topology.parse(
          """
          {
            "format": "tollbooth.resolved-topology",
            "version": 1,
            "nodes": {
              "s1": {"kind": "svc-b", "routes": {}, "operations": {
                "work": {"latency_ns": 0, "error_probability": 0,
                  "stages": [["s2.work", "s3.work"]]}
              }},
              "s2": {"kind": "svc-b", "routes": {}, "operations": {
                "work": {"latency_ns": 0, "error_probability": 0, "stages": []}
              }},
              "s3": {"kind": "svc-b", "routes": {}, "operations": {
                "work": {"latency_ns": 0, "error_probability": 0, "stages": []}
              }}
            }
          }
          """);

  @ParameterizedTest
  @ValueSource(doubles = {0.2, 0.02, 0.002})
  void areAsManyAsTheRequestSets(double probability) {
    long failures =
        overSeeds(seed -> {
          Behaviour s1 = behaviour("s1", seed);
          return request -> fails(s1, path(request), probability);
        });

    assertRate(failures, probability);
  }

  /** Three services that each fail by themselves: 1 - (1 - p)^3. */
  @ParameterizedTest
  @ValueSource(doubles = {0.2, 0.02, 0.002})
  void compoundOverTheServicesOfARequest(double probability) {
    long failures =
        overSeeds(seed -> {
          Services services = new Services(seed);
          return request -> services.fail(path(request), probability);
        });

    assertRate(failures, compounded(probability));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.2, 0.02})
  void comeAgainAtTheSecondAttemptAsOftenAsAtTheFirst(double probability) {
    long failures =
        overSeeds(seed -> {
          Services services = new Services(seed);
          return request ->
              services.fail(path(request), probability)
                  && services.fail(path(request).attempt("2"), probability);
        });

    assertRate(failures, compounded(probability) * compounded(probability));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.2, 0.02, 0.002})
  void areTheSameUnderTheSameSeedAndNodeOnly(double probability) {
    assertThat(failing("s1", 1, probability)).isNotEmpty();
    assertThat(failing("s1", 1, probability)).isEqualTo(failing("s1", 1, probability));
    assertThat(failing("s1", 1, probability)).isNotEqualTo(failing("s1", 2, probability));
    assertThat(failing("s1", 1, probability)).isNotEqualTo(failing("s2", 1, probability));
  }

  /** The three services under one seed; a request fails where any of them does. */
  private static final class Services {

    private final Behaviour s1;
    private final Behaviour s2;
    private final Behaviour s3;

    Services(long seed) {
      s1 = behaviour("s1", seed);
      s2 = behaviour("s2", seed);
      s3 = behaviour("s3", seed);
    }

    boolean fail(CallPath path, double probability) {
      return fails(s1, path, probability)
          || fails(s2, path.call(0), probability)
          || fails(s3, path.call(1), probability);
    }
  }

  private interface UnderSeed {
    LongPredicate apply(long seed);
  }

  private static long overSeeds(UnderSeed failing) {
    return LongStream.range(0, SEEDS)
        .map(seed -> LongStream.range(0, REQUESTS).filter(failing.apply(seed)).count())
        .sum();
  }

  private static long[] failing(String node, long seed, double probability) {
    Behaviour behaviour = behaviour(node, seed);
    return LongStream.range(0, REQUESTS)
        .filter(request -> fails(behaviour, path(request), probability))
        .toArray();
  }

  private static Behaviour behaviour(String node, long seed) {
    return new Behaviour(node, TOPOLOGY.nodes().get(node), seed);
  }

  private static boolean fails(Behaviour behaviour, CallPath path, double probability) {
    Overrides requested = new Overrides(Optional.empty(), Optional.of(probability));
    return behaviour.task("work", new CallHead(path, requested), Overrides.NONE).fails();
  }

  private static CallPath path(long request) {
    return CallPath.ofRequest(request);
  }

  private static double compounded(double probability) {
    return 1 - Math.pow(1 - probability, 3);
  }

  /** Within four standard deviations of the binomial: chance misses it once in 16,000 times. */
  private static void assertRate(long failures, double probability) {
    long requests = (long) SEEDS * REQUESTS;
    double sigma = Math.sqrt(probability * (1 - probability) / requests);
    assertThat(failures / (double) requests).isCloseTo(probability, within(4 * sigma));
  }
}
