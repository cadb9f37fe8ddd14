"""The metrics of the claims about Collectors: what a trial's records say of saturation, steadiness and decisions."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from lab.analysis.claims.spec import load_claims
from lab.analysis.metrics import measures, with_paired_values
from lab.cli import LAB
from lab.record import NotDerivableError, TrialData, TrialSummary, Window
from lab.record.counters import parse_counters
from lab.record.results import Results
from lab.record.trial import ContainerRecord
from lab.target import delays, generated
from lab.target.collector import decisions, saturation, steadiness
from tests.observed import SECOND_NS, START_NS, More, counters
from tests.repository import ROOT
from tests.unit.test_traces import IDS, WORKERS, _series, row, trial

CONSTANT = {"workers": _series([100] * 700)}
MEASURES = measures(LAB.targets["collector"].judgement)


def lasting(data: TrialData, window_s: int, generator: Any = CONSTANT, warm_up_s: int = 0) -> TrialData:
    """Return a trial with another window and another load."""
    start_ns = START_NS + warm_up_s * SECOND_NS
    window = Window(load_start_ns=START_NS, start_ns=start_ns, end_ns=start_ns + window_s * SECOND_NS)
    record = data.trial.model_copy(update={"window": window})
    return TrialData(record, {**data.streams, "generator": {"0": generator}})


def test_delays_before_the_first_error_are_of_the_ten_seconds_before_it() -> None:
    early = [row(IDS[0], "success", at_s, 2, 10) for at_s in range(5)]
    late = [row(IDS[0], "success", at_s, 4, 2_000) for at_s in range(8, 18)]
    data = trial([*early, *late, row(IDS[1], "send error", 17.5, 500, None)])
    assert saturation.delay_before_error_ms(data, delays.RECEIVE) == pytest.approx(2_000)
    # How long the rejection took is no delay until accepted.
    assert saturation.delay_before_error_ms(data, delays.SEND) == pytest.approx(4)
    assert all(metric.bound and metric.bound(data) is None for metric in saturation.METRICS)
    assert all(metric.bound and metric.bound(trial(late)) == "at least" for metric in saturation.METRICS)


def observed(data: TrialData, cpus: list[int], cores: Mapping[str, float], more: More = lambda _: ()) -> TrialData:
    """Return a trial whose containers were observed. Generator and sink have the CPUs."""
    containers = {
        name: ContainerRecord(role=role, image="x", restarts=0, oom_killed=False, exit_code=0)
        for name, role in {"traces": "generator", "sink": "backend", "collector": "collector"}.items()
    }
    record = data.trial.model_copy(update={"containers": containers, "generator_cpus": cpus})
    seen = parse_counters(counters(cores, more=more), "test")
    return TrialData(record, {**data.streams, "counters": {"local": seen}})


def test_generator_and_sink_are_seen_just_before_the_first_error() -> None:
    data = trial([row(IDS[0], "success", 1), row(IDS[1], "send error", 17.5, 500, None)])
    seen = observed(data, [1, 2], {"traces": 0.6, "sink": 0.2, "collector": 1.0})
    assert saturation.instruments_before_error_fraction(seen) == pytest.approx(0.4)


def busy_later(since_s: int) -> list[dict[str, Any]]:
    """A generator that needs a whole core from 5 s after the load's start on, and nothing before."""
    return [{"kind": "container", "name": "traces", "cpu_usage_ns": max(0, since_s - 8) * SECOND_NS}]


@pytest.mark.parametrize(
    ("counted", "reasons"),
    [
        ({"workers_planned_per_s": 5.0}, []),
        ({}, ["traces and sink used 75% of their CPUs (limit 70%): what is measured may not have been the limit"]),
    ],
)
def test_only_a_ramp_is_judged_until_its_first_error(counted: Mapping[str, float], reasons: list[str]) -> None:
    data = trial([row(IDS[0], "success", 1), row(IDS[1], "send error", 5, 500, None)])
    seen = observed(data, [1], {"sink": 0.0, "collector": 1.0}, busy_later)
    results = {"results": {"generator": Results(values=counted)}}
    assert list(generated.instruments_had_cpu(TrialData(seen.trial, {**seen.streams, **results}))) == reasons


def test_only_failures_of_traces_sent_in_the_window_count() -> None:
    rows = [row(IDS[0], "success", at_s) for at_s in range(19)] + [row(IDS[1], "send error", 19, 2, None)]
    data = trial([*rows, row(IDS[2], "send error", 21, 2, None)])
    assert steadiness.failed(data) == 1
    assert steadiness.failed_fraction(data) == pytest.approx(1 / 20)


def test_what_came_back_is_counted_by_whole_seconds() -> None:
    data = trial([row(IDS[0], "success", at_s) for at_s in (0.1, 0.2, 3.5, 25)] + [row(IDS[1], "receive timeout", 3.6)])
    assert steadiness.returned_each_second(lasting(data, 4)) == (2, 0, 0, 1)


def test_a_rate_that_is_not_kept_up_is_seen() -> None:
    falling = [
        row(IDS[0], "success", second + part / 9) for second in range(20) for part in range(8 - 4 * (second > 15))
    ]
    assert steadiness.rate_kept(lasting(trial(falling), 20)) == pytest.approx(0.5)
    with pytest.raises(NotDerivableError, match="workers changed"):
        steadiness.rate_kept(lasting(trial(falling), 20, WORKERS))


def swinging(crest_s: float, seed: int, warm_up_s: int = 0) -> TrialData:
    """A trial of 480 s whose rate is highest at `crest_s` after the load's start, and each minute after that."""
    random, rows = np.random.default_rng(seed), list[str]()
    for second in range(480):
        angle = 2 * np.pi * (second + warm_up_s - crest_s) / 60
        count = random.poisson(10 * (1 + 0.5 * np.cos(angle)))
        rows += [row(IDS[0], "success", warm_up_s + second + (part + 0.5) / 50) for part in range(count)]
    return lasting(trial(rows), 480, CONSTANT, warm_up_s)


def test_a_swing_has_its_period_its_amplitude_and_its_phase() -> None:
    data = swinging(15, 1, warm_up_s=20)
    assert steadiness.swing(data).p_value < 0.01
    assert steadiness.swing(data).period_s == pytest.approx(60, rel=0.05)
    assert steadiness.swing(data).amplitude == pytest.approx(0.5, rel=0.2)
    assert steadiness.swing_part(data, "start", "cosine") == pytest.approx(0, abs=0.08)
    assert steadiness.swing_part(data, "start", "sine") == pytest.approx(0.5, abs=0.08)
    # By the wall clock, a crest is at the same second of each minute.
    crest_s = (START_NS / SECOND_NS + 15) % 60
    expected = 0.5 * np.cos(2 * np.pi * crest_s / 60), 0.5 * np.sin(2 * np.pi * crest_s / 60)
    found = steadiness.swing_part(data, "clock", "cosine"), steadiness.swing_part(data, "clock", "sine")
    assert found == pytest.approx(expected, abs=0.08)


def test_a_short_window_has_no_swing_and_a_ramp_none_either() -> None:
    data = trial([row(IDS[0], "success", at_s) for at_s in range(20)])
    with pytest.raises(NotDerivableError, match="450 s"):
        steadiness.swing(lasting(data, 20))
    with pytest.raises(NotDerivableError, match="workers changed"):
        steadiness.swing(data)


def swing_values(level: str, crest_s: float) -> TrialSummary:
    angle = 2 * np.pi * crest_s / 60
    values = {"swing_by_start_cosine": float(np.cos(angle)), "swing_by_start_sine": float(np.sin(angle))}
    return TrialSummary(trial=level, level=level, block=0, valid=True, reasons=[], values=values)


@pytest.mark.parametrize(("crest_s", "expected"), [(0, 1.0), (15, 0.0), (30, -1.0)])
def test_swings_are_in_step_with_the_mean_swing_of_the_references(crest_s: float, expected: float) -> None:
    # The references' crests are just before and just after the minute: their mean is at the minute, not at 30 s.
    trials = [swing_values("basic", 58), swing_values("placebo", 2), swing_values("mutate", crest_s)]
    paired = {metric.name: metric for metric in steadiness.PAIRED}
    *_, found = with_paired_values(trials, {"basic", "placebo"}, paired)
    assert found.values["swing_in_step_by_start"] == pytest.approx(expected, abs=1e-9)
    assert "swing_in_step_by_clock" not in found.values


def decided(*rows: tuple[str, int, int, int], **settings: Any) -> TrialData:
    """A trial of traces with an outcome, spans sent and received, and whether one of the spans has an error."""
    lines = []
    for outcome, sent, received, error in rows:
        fields = row(IDS[0], outcome, 1).split(",")
        fields[6], fields[7], fields[13] = str(sent), str(received), str(error)
        lines.append(",".join(fields))
    data = trial(lines, "some")
    given = {"pipeline": "tail-sampling", "edges": 0, "edge_pipeline": "edge", **settings}
    return TrialData(data.trial.model_copy(update={"settings": given}), data.streams)


ROWS = [
    ("success", 5, 5, 0),
    ("success", 5, 5, 1),
    # Exported twice.
    ("success", 5, 10, 0),
    ("receive timeout", 5, 0, 0),
    # Wrong: in part, an error in part, an error not at all.
    ("receive timeout", 5, 3, 0),
    ("receive timeout", 5, 3, 1),
    ("receive timeout", 5, 0, 1),
    # Not decided about.
    ("send error", 5, 0, 1),
    ("shutdown", 5, 2, 0),
]


def test_a_trace_in_parts_and_an_error_that_is_lost_are_wrong_decisions() -> None:
    data = decided(*ROWS)
    assert (decisions.wrong(data), len(decisions.decided(data))) == (3, 7)
    assert decisions.wrong_fraction(data) == pytest.approx(3 / 7)
    staged = decided(*ROWS, pipeline="basic", edges=2, edge_pipeline="edge-tail-sampling")
    assert decisions.wrong(staged) == 3


def test_without_tail_sampling_there_are_no_decisions() -> None:
    with pytest.raises(NotDerivableError, match="no stage"):
        decisions.wrong(decided(*ROWS, pipeline="basic", edge_pipeline="edge-tail-sampling"))


def test_counts_of_shares_are_metrics_themselves() -> None:
    shares = [one.share_of for one in MEASURES.values() if one.share_of]
    assert {steadiness.FAILED, decisions.WRONG} <= set(shares)
    assert all(name in MEASURES for share in shares for name in share)


def test_the_shipped_study_has_all_the_claims_of_its_source() -> None:
    (found,) = load_claims(["collector-capacity"], ROOT / "experiments" / "claims", MEASURES)
    assert {name.partition("-")[0] for name in found.claims} == {f"C{number}" for number in range(1, 10)}
