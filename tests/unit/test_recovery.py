"""Time to recover and requests lost, on requests whose fault is known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from lab.analysis.stats.recovery import Recovery, outcomes, recovery

S = 1_000_000_000
BEGIN = 1_760_000_000 * S
FAULT = (BEGIN + 20 * S, BEGIN + 25 * S)
WINDOW, HOLD = S, 3 * S


@dataclass
class Trial:
    """The columns of a minute of an open loop at 200 requests/s, of which `errors` fail and all take about 30 ms."""

    start_ns: np.ndarray
    end_ns: np.ndarray
    status: np.ndarray

    def __getitem__(self, which: np.ndarray) -> "Trial":
        return Trial(self.start_ns[which], self.end_ns[which], self.status[which])

    def judged(self) -> Recovery:
        return recovery(outcomes(self.start_ns, self.end_ns, self.status), *FAULT, WINDOW, HOLD)


def healthy(seed: int, errors: float = 0.01, seconds: int = 60, rate: int = 200) -> Trial:
    rng = np.random.default_rng(seed)
    start = BEGIN + np.arange(seconds * rate) * (S // rate)
    end = start + (30e6 * rng.lognormal(0, 0.2, len(start))).astype(np.int64)
    return Trial(start, end, np.where(rng.random(len(start)) < errors, 613, 200))


def between(trial: Trial, from_s: float, until_s: float) -> np.ndarray:
    """Which requests start in these seconds of the trial."""
    return (trial.start_ns >= BEGIN + from_s * S) & (trial.start_ns < BEGIN + until_s * S)


def failing(trial: Trial, from_s: float, until_s: float) -> Trial:
    return replace(trial, status=np.where(between(trial, from_s, until_s), 614, trial.status))


def slowed(trial: Trial, from_s: float, until_s: float, by_ms: float) -> Trial:
    extra = (between(trial, from_s, until_s) * by_ms * 1e6).astype(np.int64)
    return replace(trial, end_ns=trial.end_ns + extra)


def after_s(found: Recovery) -> float:
    assert found.after_ns is not None
    return found.after_ns / S


@pytest.mark.parametrize("after", [0, 0.5, 2, 7.3])
@pytest.mark.parametrize(("errors", "early"), [(0, 0.1), (0.01, 0.2), (0.2, 0.35)])
def test_the_time_to_recover_is_found_within_a_part_of_a_window(errors: float, early: float, after: float) -> None:
    # The more failed before, the more of a window's requests it takes to be seen.
    for seed in range(20):
        trial = failing(healthy(seed, errors), 20, 25 + after)
        assert after - early <= after_s(trial.judged()) <= after + 0.1


def test_slowness_without_any_error_counts_as_well() -> None:
    for seed in range(20):
        trial = slowed(healthy(seed), 20, 28, by_ms=40)
        assert 2.7 <= after_s(trial.judged()) <= 3.1


def test_without_a_fault_there_is_nothing_to_recover_from() -> None:
    found = [healthy(seed).judged() for seed in range(300)]
    assert np.mean([one.after_ns == 0 for one in found]) >= 0.95
    assert abs(np.mean([one.lost for one in found])) < 1


def test_a_fault_that_lasts_to_the_end_has_no_recovery() -> None:
    found = failing(healthy(1, errors=0), 20, 60).judged()
    assert found.after_ns is None
    assert found.lost == 40 * 200


def test_a_recovery_that_does_not_hold_is_none() -> None:
    trial = failing(failing(healthy(1), 20, 26), 28, 31)
    assert after_s(trial.judged()) == pytest.approx(6, abs=0.11)


def test_an_observation_that_ends_too_early_has_no_recovery() -> None:
    assert failing(healthy(1, seconds=28), 20, 25).judged().after_ns is None


@pytest.mark.parametrize("errors", [0, 0.01, 0.2])
def test_the_requests_lost_are_those_beyond_the_expected(errors: float) -> None:
    for seed in range(100):
        before = healthy(seed, errors)
        trial = failing(before, 20, 27)
        truth = int(np.sum((trial.status != 200) & (before.status == 200)))
        found = trial.judged()
        assert found.lost == pytest.approx(truth, abs=5 + 5 * np.sqrt(2000 * errors))
        assert found.unasked == pytest.approx(0, abs=2)


def test_a_request_that_was_open_when_the_fault_began_is_lost_too() -> None:
    trial = failing(healthy(1, errors=0), 20, 27)
    open_then = (trial.start_ns < FAULT[0]) & (trial.end_ns >= FAULT[0])
    assert np.sum(open_then) > 2
    cut = replace(trial, status=np.where(open_then, 614, trial.status))
    assert cut.judged().lost == trial.judged().lost + np.sum(open_then)


def test_users_who_wait_lose_requests_that_never_fail() -> None:
    trial = healthy(1, errors=0)
    frozen = trial[~between(trial, 20, 27)]
    found = frozen.judged()
    assert 1.65 <= after_s(found) <= 2.1
    assert found.lost == 0
    assert found.unasked == pytest.approx(7 * 200, abs=3)


def test_neither_the_rows_order_nor_the_time_of_day_matters() -> None:
    trial = failing(healthy(4), 20, 26.5)
    shuffled = trial[np.random.default_rng(1).permutation(len(trial.start_ns))]
    assert shuffled.judged() == trial.judged()
    later = outcomes(trial.start_ns + 7 * S, trial.end_ns + 7 * S, trial.status)
    assert recovery(later, FAULT[0] + 7 * S, FAULT[1] + 7 * S, WINDOW, HOLD) == trial.judged()


def test_bursts_that_were_there_before_are_no_fault() -> None:
    # Every 5 s 40 of 200 requests are slow together: more than chance allows, and as before.
    for seed in range(20):
        trial = healthy(seed)
        pause = (trial.start_ns - BEGIN) % (5 * S) < S // 5
        paused = replace(trial, end_ns=trial.end_ns + np.where(pause, 100_000_000, 0))
        assert after_s(failing(paused, 20, 27).judged()) == pytest.approx(2, abs=0.21)


def test_too_little_before_the_fault_is_an_error() -> None:
    trial = healthy(1)
    with pytest.raises(ValueError, match="at least 100"):
        trial[between(trial, 19.8, 60)].judged()
    with pytest.raises(ValueError, match="no complete window"):
        trial[between(trial, 19.2, 60)].judged()


def test_a_trial_in_which_nothing_is_requested_any_more() -> None:
    trial = healthy(1, errors=0)
    found = trial[between(trial, 0, 19.9)].judged()
    assert found.after_ns is None
    assert found.lost == 0
    assert found.unasked == pytest.approx(5 * 200, abs=10)
