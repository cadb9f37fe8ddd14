"""`lab check proxy` and `lab check threshold`: a precise run passes, and each row can fail."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from lab.analysis.checklist import Row
from lab.analysis.tracing_costs import AFTER, BEFORE, CPU, MEAN, TOOK, blocks_needed, changes, precise
from lab.errors import UserError
from lab.record import Estimate, Headline, LevelSummary, Summary, TrialSummary, write_json_atomic
from tests.forked import lab

TRACED = "otel-grpc"


def estimate(metric: str, difference: float | None, half_width: float) -> Estimate:
    known = difference is not None
    return Estimate(
        metric=metric,
        level=TRACED,
        baseline="none",
        mean=1.0,
        difference=difference,
        difference_low=difference - half_width if known else None,
        difference_high=difference + half_width if known else None,
        n=3,
    )


def summary(estimates: Sequence[Estimate] = (), trials: Sequence[TrialSummary] = (), tracer: str = TRACED) -> Summary:
    levels = {"none": {"tracer": "none"}, "placebo": {"tracer": "none"}, TRACED: {"tracer": tracer}}
    return Summary(
        experiment="proxy-tracing",
        title="x",
        baseline="none",
        placebo="placebo",
        compared_with=("none", "placebo"),
        headline=Headline(primary=CPU, what="x"),
        confidence=0.95,
        equivalence_margin=0.05,
        metrics={},
        levels={name: LevelSummary(settings=given, trials=3, rejected=0) for name, given in levels.items()},
        estimates=estimates,
        trials=trials,
    )


def costs(mean_ms: float = 0.019, cpu_us: float = 4.9) -> list[Estimate]:
    return [estimate(MEAN, 0.03, mean_ms), estimate(CPU, 41.0, cpu_us)]


def failed(rows: Sequence[Row]) -> set[str]:
    return {row.name for row in rows if not row.passed}


def test_a_precise_run_passes() -> None:
    rows = precise(summary(costs()), 39)
    assert failed(rows) == set()
    assert [row.value for row in rows] == ["+0.03 ±0.019 ms", "+41 ±4.9 µs", "39 min"]
    assert [row.bound for row in rows] == ["±0.02 ms", "±5 µs", "at most 40 min"]


@pytest.mark.parametrize(
    ("estimates", "minutes", "fails"),
    [
        (costs(mean_ms=0.021), 39, {"otel-grpc: added mean"}),
        (costs(cpu_us=5.1), 39, {"otel-grpc: added CPU"}),
        (costs()[:1], 39, {"otel-grpc: added CPU"}),
        ([estimate(MEAN, None, 0.0), *costs()[1:]], 39, {"otel-grpc: added mean"}),
        (costs(), 41, {"the run took"}),
    ],
)
def test_each_row_can_fail(estimates: Sequence[Estimate], minutes: float, fails: set[str]) -> None:
    assert failed(precise(summary(estimates), minutes)) == fails


def test_a_miss_says_how_many_blocks_it_would_take() -> None:
    rows = {row.name: row for row in precise(summary(costs(cpu_us=10.0)), 39)}
    needed = blocks_needed(10.0, 3, 5.0, 0.95)
    assert rows["otel-grpc: added CPU"].value == f"+41 ±10 µs; about {needed} blocks are needed, these are 3"


@pytest.mark.parametrize(("half_width", "blocks"), [(10.0, 3), (6.0, 3), (5.1, 12)])
def test_the_blocks_needed_are_the_first_that_suffice(half_width: float, blocks: int) -> None:
    def of(count: int) -> float:
        reach = float(stats.t.ppf(0.975, count - 1) / math.sqrt(count))
        return half_width * reach / float(stats.t.ppf(0.975, blocks - 1) / math.sqrt(blocks))

    needed = blocks_needed(half_width, blocks, 5.0, 0.95)
    assert of(needed) <= 5.0 < of(needed - 1)


def test_a_run_without_a_tracer_is_reported() -> None:
    with pytest.raises(UserError, match="no level with a tracer"):
        precise(summary(costs(), tracer="none"), 39)


def trial(number: int, valid: bool = True, **values: float) -> TrialSummary:
    return TrialSummary(
        trial=f"{number:03d}-flush-1-to-125",
        level=TRACED,
        block=number,
        valid=valid,
        reasons=[] if valid else ["x"],
        values=values,
    )


CHANGED: Mapping[str, float] = {BEFORE: 1199.6, AFTER: 9.58, TOOK: 0.04}


def test_each_trial_whose_runtime_changed_has_a_row() -> None:
    rows = changes(summary(trials=[trial(1, **CHANGED), trial(2, **{**CHANGED, TOOK: 1.2}), trial(3)]))
    assert [row.name for row in rows] == ["001-flush-1-to-125: exports", "002-flush-1-to-125: exports"]
    assert rows[0].value == "1200/s before, 9.58/s after, new after 0.04 s"
    assert failed(rows) == {"002-flush-1-to-125: exports"}


def test_a_change_without_an_effect_fails() -> None:
    without = {name: value for name, value in CHANGED.items() if name != TOOK}
    rows = changes(summary(trials=[trial(1, **CHANGED), trial(2, **without)]))
    assert rows[1].value == "1200/s before, 9.58/s after, no clear change of the spans per export"
    assert failed(rows) == {"002-flush-1-to-125: exports"}


@pytest.mark.parametrize("trials", [[], [trial(1)], [trial(1, valid=False, **CHANGED)]])
def test_a_run_without_a_change_is_reported(trials: Sequence[TrialSummary]) -> None:
    with pytest.raises(UserError, match="no valid trial whose runtime changed"):
        changes(summary(trials=trials))


def written(folder: Path, of: Summary, **durations_s: float) -> Path:
    write_json_atomic(folder / "summary.json", of.model_dump(mode="json"))
    manifest: dict[str, Any] = {"format": "tollbooth.manifest", "version": 2, "durations_s": durations_s}
    write_json_atomic(folder / "manifest.json", manifest)
    return folder


@pytest.mark.parametrize(("cpu_us", "code"), [(4.9, 0), (5.1, 1)])
def test_the_command_exits_with_1_on_a_miss(cpu_us: float, code: int, tmp_path: Path) -> None:
    said = lab("check", "proxy", str(written(tmp_path, summary(costs(cpu_us=cpu_us)), setup=60, trials=1200)))
    assert said.returncode == code
    assert ("FAIL" in said.stdout) == bool(code)
    assert "21 min" in said.stdout


def test_the_other_command_prints_what_the_change_did(tmp_path: Path) -> None:
    said = lab("check", "threshold", str(written(tmp_path, summary(trials=[trial(1, **CHANGED)]))))
    assert said.returncode == 0
    assert "1200/s before" in said.stdout
