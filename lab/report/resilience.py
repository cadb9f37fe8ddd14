"""The report's part on errors and sidecars, as plain data; `templates/resilience.html` shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.metrics.requests import FAILED
from lab.analysis.pooled import pooled_share
from lab.analysis.stats.compare import paired
from lab.analysis.stats.proportions import ConfidenceInterval, Pooled
from lab.analysis.stats.ttests import ASSUMPTIONS, student, welch
from lab.record import NO_SIDECAR, RETRIES, WITHOUT_PATTERNS, Summary, TrialRecord, TrialSummary
from lab.report.blocks import by_block
from lab.report.cells import Shown
from lab.report.failed import failed
from lab.report.numbers import DASH, interval, number, percent, scale_for, signed
from lab.report.twins import less, mode, without_sidecars

TESTED = "latency_mean_ms"
"""What the sidecar study's t test was about: the time that requests take."""
ADDED = (
    ("CPU, services and sidecars, µs per request", "cpu_per_request_proxied_ms", 1e-3),
    ("CPU, services alone, µs per request", "cpu_per_request_services_ms", 1e-3),
    ("Latency, median, ms", "latency_p50_ms", 1.0),
    ("Latency, 99th percentile, ms", "latency_p99_ms", 1.0),
)
"""What sidecars add: the column's title, the metric, and how many of its units are one here."""


@dataclass(frozen=True)
class ErrorRow:
    """What failed at a level, all its valid trials together, and the share expected from the drawn errors."""

    level: str
    requests: str
    failed: str
    share: str
    interval: str
    expected: str
    covered: str
    """Whether the interval covers what is expected; empty where sidecars change it."""
    attempts: str
    rejected: str
    used_up: str


@dataclass(frozen=True)
class CounterRow:
    """A sidecar's counters in a level's trials, on average."""

    level: str
    sidecar: str
    values: Sequence[str]


@dataclass(frozen=True)
class AddedRow:
    """What sidecars add to the level that differs in them alone, a cell for each of `ADDED`, paired within blocks."""

    level: str
    twin: str
    added: Sequence[Shown]
    n: str


@dataclass(frozen=True)
class TestRow:
    """Two t tests of a level against the one that differs from it in its sidecars alone."""

    level: str
    twin: str
    difference: str
    interval: str
    student_p: str
    welch_p: str
    n: str


@dataclass(frozen=True)
class Resilience:
    """Everything that the page says of errors and sidecars."""

    confidence: str
    covered: str
    """At how many levels without patterns the interval covers what is expected."""
    covered_trials: str
    """In how many of their trials, each counted alone."""
    origin: Sequence[tuple[str, str]]
    """Of each level whose sidecars retry: where what failed came from, in a sentence."""
    errors: Sequence[ErrorRow]
    added_titles: Sequence[str]
    added: Sequence[AddedRow]
    counters: Sequence[str]
    """Envoy's names."""
    counted: Sequence[CounterRow]
    tested: Sequence[TestRow]
    assumptions: Sequence[str]


def resilience(summary: Summary, trials: Sequence[TrialRecord]) -> Resilience | None:
    """Build the part; None where neither a level has sidecars nor an error is drawn."""
    found = {
        level: [trial for trial in summary.trials if trial.valid and trial.level == level] for level in summary.levels
    }
    if not any(mode(summary, level) != NO_SIDECAR for level in found) and not any(
        "expected_error_fraction" in trial.values for trial in summary.trials
    ):
        return None
    pooled = failed(summary)
    rows = [_errors(summary, level, pooled[level], found[level]) for level in pooled]
    plain = [row.covered for row in rows if row.covered]
    return Resilience(
        confidence=percent(summary.confidence),
        covered=f"{plain.count('yes')} of {len(plain)}" if plain else "",
        covered_trials=_covered_trials(summary, [trial for row in rows if row.covered for trial in found[row.level]]),
        origin=[(level, _origin(found[level])) for level in pooled if _tries_again(found[level])],
        errors=rows,
        added_titles=[title for title, _, _ in ADDED],
        added=[more for level in pooled if (more := _added(summary, level)) is not None],
        counters=RETRIES,
        counted=_counted(trials),
        tested=[row for level in pooled if (row := _tested(summary, level, found)) is not None],
        assumptions=ASSUMPTIONS["student"],
    )


def _errors(summary: Summary, level: str, pooled: Pooled, trials: Sequence[TrialSummary]) -> ErrorRow:
    bounds = pooled.interval(summary.confidence)
    expected = trials[0].values.get("expected_error_fraction", 0.0)
    # With faults, the number of requests that should fail is unknown.
    plain = mode(summary, level) in WITHOUT_PATTERNS and not summary.levels[level].settings.get("faults")
    return ErrorRow(
        level=level,
        requests=f"{pooled.count.total:,}",
        failed=f"{pooled.count.events:,}",
        share=_percent(pooled.count.rate),
        interval=interval(bounds.low, bounds.high, _percent),
        expected=_percent(expected),
        covered=_covered(bounds, expected) if plain else "",
        attempts=_mean(trials, "attempts_per_request"),
        rejected=_mean(trials, "retries_refused_per_request"),
        used_up=_mean(trials, "retries_used_up_per_request"),
    )


def _covered(bounds: ConfidenceInterval, expected: float) -> str:
    return "yes" if bounds.covers(expected) else "no"


def _covered_trials(summary: Summary, trials: Sequence[TrialSummary]) -> str:
    """Count the trials whose own interval covers the share expected from the drawn errors."""
    alone = [(pooled_share(FAILED, [trial]), trial.values.get("expected_error_fraction", 0.0)) for trial in trials]
    known = [pooled.interval(summary.confidence).covers(expected) for pooled, expected in alone if pooled is not None]
    return f"{sum(known)} of {len(known)}"


def _percent(share: float) -> str:
    return f"{number(100 * share)} %" if share else "0 %"


def _mean(trials: Sequence[TrialSummary], metric: str) -> str:
    known = [trial.values[metric] for trial in trials if metric in trial.values]
    return number(sum(known) / len(known)) if known else DASH


def _tries_again(trials: Sequence[TrialSummary]) -> bool:
    return any(
        trial.values.get(name) for trial in trials for name in ("retries_per_request", "retries_refused_per_request")
    )


def _origin(trials: Sequence[TrialSummary]) -> str:
    """Say what the sidecars' counters show about the failed requests."""
    failed = round(sum(trial.values["requests_failed"] for trial in trials))
    tried, rejected, used_up = (
        round(sum(trial.values[name] * trial.values["requests"] for trial in trials))
        for name in ("retries_per_request", "retries_refused_per_request", "retries_used_up_per_request")
    )
    did = [f"retried {tried:,} times"]
    if rejected:
        limit = "the circuit breaker's limit of concurrent retries was reached (upstream_rq_retry_overflow)"
        did.append(f"rejected {rejected:,} retries because {limit}")
    if used_up:
        did.append(f"gave up {used_up:,} times after the last allowed attempt (upstream_rq_retry_limit_exceeded)")
    if not rejected and not used_up:
        did.append("rejected no retry, and no request used up its attempts")
    return f"{failed:,} requests failed. The sidecars {'; '.join(did)}."


def _counted(trials: Sequence[TrialRecord]) -> list[CounterRow]:
    levels = dict.fromkeys(trial.level for trial in trials if trial.valid and trial.sidecars)
    return [row for level in levels for row in _of_level(level, [t for t in trials if t.valid and t.level == level])]


def _of_level(level: str, trials: Sequence[TrialRecord]) -> list[CounterRow]:
    rows = []
    for sidecar in trials[0].sidecars:
        sums = [
            sum(
                value
                for trial in trials
                for counter, value in trial.sidecars[sidecar].counters.items()
                if counter.split(".", 2)[-1] == name
            )
            for name in RETRIES
        ]
        rows.append(CounterRow(level, sidecar, [number(total / len(trials)) for total in sums]))
    return rows


def _added(summary: Summary, level: str) -> AddedRow | None:
    """Compare a level with its twin without sidecars; None where there is none, or no block has both."""
    twin = without_sidecars(summary, level)
    if twin is None:
        return None
    first = ADDED[0][1]
    blocks = len(paired(by_block(summary, level, first), by_block(summary, twin, first)))
    cells = [less(summary, metric, level, twin, factor) for _, metric, factor in ADDED]
    return AddedRow(level, twin, cells, str(blocks)) if blocks else None


def _tested(summary: Summary, level: str, trials: Mapping[str, Sequence[TrialSummary]]) -> TestRow | None:
    """Test a level with sidecars against the one without; None where there is none, or too few trials."""
    twin = without_sidecars(summary, level)
    if twin is None:
        return None
    one, other = ([trial.values[TESTED] for trial in trials[name] if TESTED in trial.values] for name in (level, twin))
    try:
        equal, unequal = student(one, other, summary.confidence), welch(one, other, summary.confidence)
    except ValueError:
        return None
    scale = scale_for(summary.metrics[TESTED].unit, [equal.difference])
    return TestRow(
        level=level,
        twin=twin,
        difference=f"{signed(equal.difference, scale)} {scale.unit}",
        interval=interval(equal.low, equal.high, scale.show),
        student_p=number(equal.p_value, 2),
        welch_p=number(unequal.p_value, 2),
        n=f"{len(one)}, {len(other)}",
    )
