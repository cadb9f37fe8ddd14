"""`lab check generator`: the highest rate held together with all lower ones, and what is required."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from lab.analysis.generator_rates import CORES, DELAY, held
from lab.errors import UserError
from lab.record import Estimate, Headline, LevelSummary, Summary, TrialSummary, write_json_atomic
from tests.forked import lab

LATE = "the generator could not hold the load: 1 % of the requests started over 120 ms late (limit 100 ms)"


def trial(level: str, delay_ms: float | None, reasons: Sequence[str] = ()) -> TrialSummary:
    values = {} if delay_ms is None else {DELAY: delay_ms}
    return TrialSummary(trial=f"1-{level}", level=level, block=0, valid=not reasons, reasons=reasons, values=values)


def summary(
    delays_ms: Mapping[float, float | None], rejected: Sequence[TrialSummary] = (), rate_of_placebo: float = 300.0
) -> Summary:
    levels = {f"r-{rate:g}": {"requests_per_s": rate} for rate in delays_ms}
    known = {f"r-{rate:g}": delay for rate, delay in delays_ms.items() if delay is not None}
    estimates = [
        Estimate(metric=metric, level=level, baseline="r-300", mean=mean, n=1)
        for level, delay in known.items()
        for metric, mean in ((DELAY, delay), *((metric, 0.25) for metric in CORES))
    ]
    return Summary(
        experiment="proxy-generator",
        title="x",
        baseline="r-300",
        placebo="placebo",
        compared_with=("r-300", "placebo"),
        headline=Headline(primary=DELAY, what="x"),
        confidence=0.95,
        equivalence_margin=0.05,
        metrics={},
        levels={
            name: LevelSummary(settings=given, trials=1, rejected=0)
            for name, given in {**levels, "placebo": {"requests_per_s": rate_of_placebo}}.items()
        },
        estimates=estimates,
        trials=[*(trial(level, delay) for level, delay in known.items()), *rejected],
    )


def test_all_rates_may_be_held() -> None:
    rows = held(summary({2400.0: 0.4, 300.0: 0.1, 600.0: 0.2, 1200.0: 0.3}))
    assert [row.verdict for row in rows] == ["PASS"] * 5
    assert rows[0].name == "300 requests/s: start delay, p99"
    assert rows[0].value == "0.1 ms (worst trial 0.1); cores: generator 0.25, all 1.2"
    assert (rows[-1].value, rows[-1].bound) == ("2400", "at least 1200")


@pytest.mark.parametrize(
    ("delays_ms", "highest", "verdict"),
    [
        ({300.0: 0.1, 600.0: 0.2, 1200.0: 0.9, 2400.0: 1.0}, "1200", "PASS"),
        ({300.0: 0.1, 600.0: 0.2, 1200.0: 1.1, 2400.0: 0.2}, "600", "FAIL"),
        ({300.0: 0.1, 600.0: 0.2, 1200.0: None, 2400.0: 0.2}, "600", "FAIL"),
        ({300.0: 3.0}, "0", "FAIL"),
    ],
)
def test_the_highest_is_held_with_all_lower_ones(
    delays_ms: Mapping[float, float | None], highest: str, verdict: str
) -> None:
    last = held(summary(delays_ms))[-1]
    assert (last.value, last.verdict) == (highest, verdict)


def test_a_rate_with_a_trial_of_a_slow_generator_is_not_held() -> None:
    delays_ms = {300.0: 0.1, 1200.0: 0.3}
    slow = held(summary(delays_ms, [trial("r-1200", 120.0, [LATE])]))
    assert slow[1].value.endswith("; 1 trials rejected: the generator was too slow")
    assert slow[-1].value == "300"
    # The machine's fault is not the generator's.
    stolen = held(summary(delays_ms, [trial("r-1200", 9.0, ["the host stole 7 % of its CPUs' time in the window"])]))
    assert stolen[-1].value == "1200"


def test_a_run_without_rates_is_reported() -> None:
    with pytest.raises(UserError, match="have no rates"):
        held(summary({}, rate_of_placebo=0.0))


@pytest.mark.parametrize(("late_ms", "code"), [(0.9, 0), (1.1, 1)])
def test_the_command_fails_below_the_required_rate(late_ms: float, code: int, tmp_path: Path) -> None:
    made = summary({300.0: 0.1, 600.0: 0.2, 1200.0: late_ms, 2400.0: 5.0})
    write_json_atomic(tmp_path / "summary.json", made.model_dump(mode="json"))
    write_json_atomic(tmp_path / "manifest.json", {"format": "tollbooth.manifest", "version": 2})
    said = lab("check", "generator", str(tmp_path))
    assert said.returncode == code
    assert "highest rate held" in said.stdout
