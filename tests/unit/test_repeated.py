"""`lab check quick`: runs that give the same answer pass, and each row can fail."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lab.analysis.analyse import summarise
from lab.analysis.repeated import placebo, repeated
from lab.analysis.runs import Run
from lab.analysis.stats.intervals import blocks_for
from lab.command.check import attempts_made
from lab.errors import UserError
from lab.record import TrialSummary, read_summary
from lab.run.attempts import numbered
from lab.spec import PLACEBO, load_experiment
from tests.forked import lab
from tests.labs import LAB, MESH, ROOT
from tests.studies import RESULTS, RUNS

EXPERIMENT = load_experiment(ROOT / "experiments" / "quick.yaml", LAB.grammar)
COST = "cpu_per_request_services_ms"
RATIOS = {"baseline": 1.0, PLACEBO: 1.0, "otel-manual": 1.16, "otel-agent": 1.38}
SETS = 4


def run(
    number: int,
    ratios: Mapping[str, float] = RATIOS,
    noise: float = 0.012,
    minutes: float = 7.5,
    rejected: int = 0,
    sets: int = SETS,
) -> Run:
    """A run of quick with this truth. `noise`: the standard deviation of a set's log ratio."""
    draw = np.random.default_rng(number)
    trials = [
        TrialSummary(
            trial=f"{block:03d}-{name}",
            level=name,
            block=block,
            position=place,
            valid=block < sets,
            reasons=[] if block < sets else ["the machine was busy"],
            values={COST: 25 * ratio * draw.lognormal(sigma=noise)} if block < sets else {},
        )
        for block in range(sets + rejected)
        for place, (name, ratio) in enumerate(ratios.items())
    ]
    durations_s = {"setup": 2.0, "trials": 60 * minutes - 12, "report": 10.0}
    manifest = {"started": "2026-11-20T06:00:00+00:00", "attempt": 7 + number, "durations_s": durations_s}
    return Run(f"run-{number}", manifest, summarise(EXPERIMENT, MESH, trials))


TEN = [run(number) for number in range(10)]


def failed(runs: Sequence[Run]) -> set[str]:
    return {row.name for row in repeated(runs) if not row.passed}


def test_ten_runs_with_the_same_answer_pass() -> None:
    assert failed(TEN) == set()
    assert len(repeated(TEN)) == 9


@pytest.mark.parametrize(
    ("last", "names"),
    [
        ([run(9, minutes=8.1)], {"longest run"}),
        ([run(9, rejected=1)], {"sets rejected, most of a run"}),
        ([run(9, {**RATIOS, "otel-agent": 1.0})], {"runs that find otel-agent"}),
        ([], {"runs", "runs that find otel-agent"}),
        ([run(10)], {"attempts left out"}),
        ([run(9, {**RATIOS, PLACEBO: 1.4})], {"placebo / baseline, all sets"}),
    ],
)
def test_one_run_can_fail(last: Sequence[Run], names: set[str]) -> None:
    assert failed([*TEN[:9], *last]) == names


def test_one_run_in_ten_may_miss_spans_by_hand() -> None:
    missing = [run(number, {**RATIOS, "otel-manual": 1.0}) for number in (8, 9)]
    assert failed([*TEN[:9], missing[1]]) == set()
    assert failed([*TEN[:8], *missing]) == {"runs that find otel-manual"}


def test_runs_without_a_number_may_leave_attempts_out() -> None:
    unnumbered = {key: value for key, value in TEN[3].manifest.items() if key != "attempt"}
    assert failed([*TEN[:9], replace(TEN[9], manifest=unnumbered)]) == {"attempts left out"}


@pytest.mark.parametrize(
    ("made", "said"),
    [(20, "0; attempts 7 to 16 of 20"), (None, "0; attempts 7 to 16, of how many is not known")],
)
def test_it_is_said_which_of_all_attempts_are_judged(made: int | None, said: str) -> None:
    (row,) = [row for row in repeated(TEN, made=made) if row.name == "attempts left out"]
    assert (row.value, row.passed) == (said, True)


def test_attempts_are_counted_in_the_list_beside_the_runs(tmp_path: Path) -> None:
    first, second = tmp_path / "quick" / "first", tmp_path / "quick" / "second"
    first.parent.mkdir()
    for folder in (first, second):
        numbered(folder, datetime(2026, 11, 20), "lab run quick")
    assert attempts_made([second]) == attempts_made([first, second]) == 2
    assert attempts_made([first, tmp_path / "other" / "first"]) is None
    assert attempts_made([tmp_path / "other" / "first"]) is None


def with_half_width(of: Run, points: float) -> Run:
    """The run, with such an interval of the agent's ratio."""
    return with_agent(of, {"ratio_low": 1.4 - points / 100, "ratio_high": 1.4 + points / 100})


def with_agent(of: Run, ends: Mapping[str, float | None]) -> Run:
    estimates = [
        row.model_copy(update=ends) if (row.metric, row.level) == (COST, "otel-agent") else row
        for row in of.summary.estimates
    ]
    return replace(of, summary=of.summary.model_copy(update={"estimates": estimates}))


@pytest.mark.parametrize(
    ("round_sds", "said", "bound"),
    [
        ([], "scatter of rounds not known", "at most 5 points"),
        ([0.07, 0.081, 0.13], "rounds scatter by 8.1 % (from 3 of 10 runs)", "at most 5 points"),
        ([0.08] * 10, "rounds scatter by 8.0 % (from 10 of 10 runs)", "at most 4 points"),
    ],
)
def test_intervals_have_to_be_narrower_where_rounds_scatter_little(
    round_sds: Sequence[float], said: str, bound: str
) -> None:
    runs = [with_half_width(one, 4.5) for one in TEN]
    (row,) = [row for row in repeated(runs, round_sds) if row.name == "half-width of otel-agent, median"]
    assert (row.value, row.bound) == (f"4.5 points; {said}", bound)
    assert row.passed == (bound == "at most 5 points")


def test_runs_without_an_interval_count_as_wide_ones() -> None:
    none = {"ratio_low": None, "ratio_high": None}
    narrow = [with_half_width(one, 4.5) for one in TEN]
    without = [with_agent(one, none) for one in narrow]
    assert failed([*without[:6], *narrow[6:]]) == {"half-width of otel-agent, median"}
    assert failed([*without[:4], *narrow[4:]]) == set()


def test_wide_intervals_fail() -> None:
    assert "half-width of otel-agent, median" in failed([run(number, noise=0.06) for number in range(10)])


def test_a_run_without_a_set_that_counts_finds_nothing() -> None:
    nothing = run(9, sets=0, rejected=4)
    assert failed([*TEN[:9], nothing]) == {"sets rejected, most of a run", "runs that find otel-agent"}


def test_the_placebo_is_judged_over_the_sets_of_all_runs() -> None:
    ratios = [
        math.log(other / one)
        for each in TEN
        for one, other in zip(costs(each, "baseline"), costs(each, PLACEBO), strict=True)
    ]
    found = placebo(TEN)
    assert found is not None and found.low is not None and found.high is not None
    reach = 2.0227 * np.std(ratios, ddof=1) / math.sqrt(10 * SETS)  # t of 39 degrees of freedom
    assert found.mean == pytest.approx(math.exp(np.mean(ratios)))
    assert math.log(found.high / found.mean) == pytest.approx(reach, rel=1e-3)
    assert math.log(found.mean / found.low) == pytest.approx(reach, rel=1e-3)


def costs(of: Run, level: str) -> Sequence[float]:
    return [trial.values[COST] for trial in of.summary.trials if trial.level == level]


def test_other_runs_are_not_judged() -> None:
    with pytest.raises(UserError, match="run-1 has no level otel-agent"):
        repeated([replace(TEN[1], summary=TEN[1].summary.model_copy(update={"levels": {}}))])


@pytest.mark.parametrize(
    ("level", "of_sets", "of_runs", "f", "p"),
    [("otel-manual", 0.0138, 0.0087, 1.58, 0.165), ("otel-agent", 0.0155, 0.0070, 0.81, 0.61)],
)
def test_the_kept_runs_vary_as_documented(level: str, of_sets: float, of_runs: float, f: float, p: float) -> None:
    """docs/results/quick.md has these figures: ten runs of four sets each."""
    logs = np.array([kept_log_ratios(name, level) for name in RUNS])
    within, between = logs.var(axis=1, ddof=1).mean(), logs.mean(axis=1).var(ddof=1)
    assert (math.sqrt(within), math.sqrt(between)) == pytest.approx((of_sets, of_runs), abs=5e-4)
    assert (4 * between / within, stats.f.sf(4 * between / within, 9, 30)) == pytest.approx((f, p), abs=5e-3)


def test_a_point_takes_as_long_as_documented() -> None:
    logs = np.array([kept_log_ratios(name, "otel-agent") for name in RUNS])
    sd, ratio = math.sqrt(logs.var(axis=1, ddof=1).mean()), math.exp(logs.mean())
    assert blocks_for(sd, 0.01 / ratio, 0.95) == 18
    # A set takes 108 s, so half an hour is enough for 16.
    assert stats.t.ppf(0.975, 15) * sd / math.sqrt(16) * ratio == pytest.approx(0.011, abs=5e-4)


def kept_log_ratios(run: str, level: str) -> Sequence[float]:
    summary = read_summary(RESULTS / run / "summary.json")
    return [
        math.log(cost[level] / np.mean([cost[name] for name in summary.compared_with]))
        for cost in summary.by_block(COST).values()
    ]


def test_the_command_prints_the_rows_and_exits() -> None:
    done = lab("check", "quick", *[str(RESULTS / name) for name in RUNS])
    assert "runs that find otel-agent" in done.stdout
    # They are kept with the cost of their slices.
    assert "points; rounds scatter" in done.stdout
    assert done.returncode == int("FAIL" in done.stdout)
