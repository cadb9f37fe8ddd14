package tollbooth.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DrawsTest {

  private static final int CALLS = 200_000;

  @Test
  void areAFunctionOfSeedPathAndNode() {
    CallPath path = CallPath.ofRequest(17).call(3);

    assertThat(new Draws(1, "a1").uniform(path)).isEqualTo(new Draws(1, "a1").uniform(path));
    assertThat(new Draws(1, "a1").uniform(path)).isNotEqualTo(new Draws(2, "a1").uniform(path));
    assertThat(new Draws(1, "a1").uniform(path)).isNotEqualTo(new Draws(1, "a2").uniform(path));
    assertThat(new Draws(1, "a1").uniform(path))
        .isNotEqualTo(new Draws(1, "a1").uniform(path.call(0)));
  }

  @Test
  void doNotMixUpWhereNodeEndsAndPathBegins() {
    assertThat(new Draws(1, "a1").uniform(CallPath.ofRequest(2)))
        .isNotEqualTo(new Draws(1, "a").uniform(CallPath.ofRequest(12)));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.002, 0.02, 0.2, 0.5, 1})
  void failAtTheRequestedRate(double probability) {
    Draws draws = new Draws(1, "a1");
    long failures = requests().filter(i -> draws.fails(call(i), probability)).count();

    assertThat(failures / (double) CALLS).isCloseTo(probability, within(fourSigma(probability)));
  }

  @Test
  void areUniform() {
    Draws draws = new Draws(7, "a1");
    int bins = 64;
    long[] counts = new long[bins];
    requests().forEach(i -> counts[(int) (draws.uniform(call(i)) * bins)]++);

    double expected = CALLS / (double) bins;
    double chiSquared = 0;
    for (long count : counts) {
      chiSquared += (count - expected) * (count - expected) / expected;
    }
    // 63 degrees of freedom: mean 63, standard deviation 11.2; five of these away is chance in a
    // million.
    assertThat(chiSquared).isBetween(63 - 5 * 11.2, 63 + 5 * 11.2);
  }

  /** A retry draws afresh, and so does all that is called below it. */
  @Test
  void areIndependentOfTheAttempt() {
    Draws draws = new Draws(1, "a1");

    assertThat(together(draws, path -> path.attempt("2"))).isCloseTo(0.04, within(fourSigma(0.04)));
    assertThat(together(draws, path -> path.attempt("11")))
        .isCloseTo(0.04, within(fourSigma(0.04)));
    assertThat(together(draws, path -> path.attempt("2").call(0)))
        .isCloseTo(0.04, within(fourSigma(0.04)));
  }

  /** How often the draws of a call and of another that belongs to it both fail at 0.2. */
  private static double together(Draws draws, UnaryOperator<CallPath> other) {
    return requests()
            .filter(i -> draws.fails(call(i), 0.2) && draws.fails(other.apply(call(i)), 0.2))
            .count()
        / (double) CALLS;
  }

  @Test
  void areIndependentOfNodeSeedAndNeighbouringCall() {
    Draws draws = new Draws(1, "a1");

    assertThat(bothFail(draws, new Draws(1, "a2"), 0)).isCloseTo(0.04, within(fourSigma(0.04)));
    assertThat(bothFail(draws, new Draws(2, "a1"), 0)).isCloseTo(0.04, within(fourSigma(0.04)));
    assertThat(bothFail(draws, draws, 1)).isCloseTo(0.04, within(fourSigma(0.04)));
    assertThat(bothFail(draws, draws, 60)).isCloseTo(0.04, within(fourSigma(0.04)));
  }

  /** How often two draws at 0.2 both fail, the second being a number of calls later. */
  private static double bothFail(Draws one, Draws other, int later) {
    return requests()
            .filter(i -> one.fails(call(i), 0.2) && other.fails(call(i + later), 0.2))
            .count()
        / (double) CALLS;
  }

  private static IntStream requests() {
    return IntStream.range(0, CALLS);
  }

  /** As mesh numbers its calls: sixty for each request. */
  private static CallPath call(int i) {
    return CallPath.ofRequest(i / 60).call(i % 60);
  }

  private static double fourSigma(double probability) {
    return 4 * Math.sqrt(probability * (1 - probability) / CALLS);
  }
}
