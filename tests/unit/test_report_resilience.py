"""The report's part on errors and sidecars says what the trials' counts and counters say."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from rich.console import Console

from lab.record.summary import Headline, LevelSummary, MetricSummary, Summary, TrialSummary
from lab.record.trial import SidecarRecord, TrialRecord, Window
from lab.report.numbers import DASH
from lab.report.resilience import Resilience, resilience
from lab.report.terminal import print_tables
from tests.labs import MESH

REQUESTS = 10_000


def trial(level: str, block: int, failed: int, **values: float) -> TrialSummary:
    counted = {"requests": REQUESTS, "requests_failed": failed, "latency_mean_ms": 22 + block / 10, **values}
    return TrialSummary(trial=f"{block}-{level}", level=level, block=block, valid=True, reasons=(), values=counted)


def level(sidecar: str, probability: float = 0.2) -> LevelSummary:
    settings = {"sidecar": sidecar, "error_probability": probability, "topology": "fan-out"}
    return LevelSummary(settings=settings, trials=2, rejected=0)


def summary(levels: Mapping[str, LevelSummary], trials: Sequence[TrialSummary]) -> Summary:
    return Summary(
        experiment="test", title="Test", baseline="none", placebo="placebo", compared_with=("none",),
        headline=Headline(primary="latency_mean_ms", what="latency"), confidence=0.95, equivalence_margin=0.05,
        metrics={"latency_mean_ms": MetricSummary(title="Latency, mean", unit="ms", better="lower")},
        levels=dict(levels), estimates=(), trials=tuple(trials), adjustments={},
    )  # fmt: skip


LEVELS = {"none": level("none"), "envoy": level("published"), "placebo": level("none")}
RETRIED = {"retries_per_request": 0.5, "retries_refused_per_request": 0.03, "retries_used_up_per_request": 0.0}
TRIALS = [
    trial("none", 0, 4870, expected_error_fraction=0.488),
    trial("none", 1, 4890, expected_error_fraction=0.488),
    trial("envoy", 0, 1376, expected_error_fraction=0.488, attempts_per_request=3.5, **RETRIED),
    trial("envoy", 1, 1384, expected_error_fraction=0.488, attempts_per_request=3.5, **RETRIED),
    trial("placebo", 0, 4300, expected_error_fraction=0.488),
]


def part(levels: Mapping[str, LevelSummary] = LEVELS, trials: Sequence[TrialSummary] = TRIALS) -> Resilience:
    found = resilience(summary(levels, trials), [])
    assert found is not None
    return found


def test_trials_of_a_level_are_counted_together_beside_what_the_draws_alone_would_fail() -> None:
    none, envoy, placebo = ([cell.value for cell in row] for row in part().errors.rows)
    assert none[1:6] == ["20,000", "9,760", "48.8", "48.8", "yes"]
    assert placebo[5] == "no"
    assert (envoy[3], envoy[5]) == ("13.8", "")
    # The placebo's 43 % is no draw of 48.8 %; both trials of the other level are.
    assert "contains the drawn share at 1 of 2 levels, and in 2 of 3 single trials" in part().errors.notes[1]


def test_where_failures_come_from_is_said_in_numbers_of_the_sidecars() -> None:
    ((name, sentence),) = part().origin
    assert name == "envoy"
    assert "2,760 requests failed" in sentence
    assert "retried 10,000 times; rejected 600 retries" in sentence
    assert "gave up" not in sentence


def test_sidecars_that_rejected_nothing_are_said_to_have_rejected_nothing() -> None:
    in_force = trial("envoy", 0, 0, **{**RETRIED, "retries_refused_per_request": 0.0})
    ((_, sentence),) = part(trials=[in_force]).origin
    assert sentence.endswith("retried 5,000 times; rejected no retry, and no request used up its attempts.")


def test_the_terminal_shows_what_failed_and_why() -> None:
    out = io.StringIO()
    print_tables([part().errors], Console(file=out, width=100))
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert ["none", "9,760", "48.8", "(48.1", "to", "49.5)", "48.8", "yes", DASH, DASH] in rows
    assert max(map(len, out.getvalue().splitlines())) <= 100
    assert "contains the drawn share at 1 of 2 levels" in out.getvalue()
    assert "upstream_rq_retry_overflow" in part().origin[0][1]


def test_a_level_with_sidecars_is_tested_against_the_one_without() -> None:
    ((level, twin, difference, student_p, _, n),) = part().tested.rows
    assert (level.value, twin.value, n.value) == ("envoy", "none", "2, 2")
    assert (difference.value, student_p.value) == ("0 ms", "1.0")


def test_what_sidecars_add_is_paired_within_blocks_and_in_microseconds() -> None:
    none = [trial("none", block, 0, cpu_per_request_proxied_ms=1.0 + block) for block in (0, 1)]
    envoy = [trial("envoy", block, 0, cpu_per_request_proxied_ms=1.9 + block) for block in (0, 1)]
    (row,) = part(trials=[*none, *envoy, *TRIALS[4:]]).added.rows
    assert [cell.value for cell in row[:5]] == ["envoy", "none", "2", "+900", DASH]


def test_levels_that_differ_in_more_than_sidecars_are_not_tested() -> None:
    assert part({**LEVELS, "none": level("none", 0.02)}).tested.rows == []


def test_a_study_without_errors_or_sidecars_has_no_such_part() -> None:
    plain = {"none": level("none", 0), "placebo": level("none", 0)}
    assert resilience(summary(plain, [trial("none", 0, 0), trial("placebo", 0, 0)]), []) is None


@pytest.mark.parametrize("valid", [True, False])
def test_each_sidecars_published_counters_are_means_of_valid_trials(valid: bool) -> None:
    counters = [{"cluster.inbound.upstream_rq_retry": 400, "cluster.inbound.retry.upstream_rq_200": 390}, {}]
    trials = [record(valid, {"s1-envoy": {"version": "1.40.0", "counters": one}}) for one in counters]
    found = resilience(summary(LEVELS, TRIALS), trials)
    assert found is not None
    names = [column.title for column in found.counted.columns]
    rows = [dict(zip(names, (cell.value for cell in row), strict=True)) for row in found.counted.rows]
    assert bool(rows) is valid
    if valid:
        assert rows[0]["Sidecar"] == "s1-envoy"
        assert (rows[0]["upstream_rq_retry"], rows[0]["retry.upstream_rq_200"]) == ("200", "195")


def record(valid: bool, sidecars: Mapping[str, Any]) -> TrialRecord:
    return TrialRecord(
        number=1, attempt=1, block=0, position=0, level="envoy", settings={}, valid=valid, reasons=(),
        window=Window(load_start_ns=0, start_ns=0, end_ns=1), service_cpus=(0,), generator_cpus=(0,), containers={},
        startup_s={}, phases_s={},
        sidecars={name: SidecarRecord.model_validate(one) for name, one in sidecars.items()},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sidecars", "primary"), [(True, "cpu_per_request_proxied_ms"), (False, "cpu_per_request_services_ms")]
)
def test_where_there_are_sidecars_their_cpu_is_a_part_of_the_cost(sidecars: bool, primary: str) -> None:
    names = ["cpu_per_request_services_ms", "cpu_per_request_proxied_ms", *["cpu_per_request_sidecars_ms"] * sidecars]
    assert MESH.declaration.headline(names).primary == primary
