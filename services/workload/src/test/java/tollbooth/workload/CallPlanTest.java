package tollbooth.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class CallPlanTest {

  private static final Target A2 = new Target("a2", "answer");
  private static final Target A3 = new Target("a3", "answer");

  @Test
  void alternatesOverTheTargetsOneCallPerStage() {
    assertThat(plan(new CallGroup(List.of(A2, A3), 3, CallGroup.Order.SEQUENCE)))
        .containsExactly(
            List.of(new Call(0, A2)), List.of(new Call(1, A3)), List.of(new Call(2, A2)));
  }

  @Test
  void putsParallelCallsIntoOneStage() {
    assertThat(plan(new CallGroup(List.of(A2, A3), 3, CallGroup.Order.PARALLEL)))
        .containsExactly(List.of(new Call(0, A2), new Call(1, A3), new Call(2, A2)));
  }

  @Test
  void countsIndicesOnOverGroups() {
    assertThat(
            plan(
                new CallGroup(List.of(A2), 1, CallGroup.Order.SEQUENCE),
                new CallGroup(List.of(A2, A3), 2, CallGroup.Order.PARALLEL),
                new CallGroup(List.of(A3), 1, CallGroup.Order.SEQUENCE)))
        .containsExactly(
            List.of(new Call(0, A2)),
            List.of(new Call(1, A2), new Call(2, A3)),
            List.of(new Call(3, A3)));
  }

  @Test
  void isEmptyWhereNothingIsCalled() {
    assertThat(plan()).isEmpty();
  }

  private static List<List<Call>> plan(CallGroup... groups) {
    return CallPlan.of(new Operation(Duration.ZERO, 0, List.of(groups)));
  }
}
