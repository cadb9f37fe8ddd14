"""What failed at each level and why, what sidecars add, and what faults did to requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.analysis.metrics.requests import FAILED
from lab.analysis.pooled import SEED, by_block, failed, pooled_share
from lab.analysis.stats import ASSUMPTIONS, Interval, Pooled, compare, paired, student, welch
from lab.record import NO_SIDECAR, RETRIES, WITHOUT_PATTERNS, Summary, TrialRecord, TrialSummary
from lab.report.numbers import DASH, MINUS, divided, interval, number, percent, scale_for, signed, within
from lab.report.tables import LEVEL, NOTHING, Cell, Column, Row, Table, named

TESTED = "latency_mean_ms"
"""What the sidecar study's t test was about: the time that requests take."""
EXPECTED = "expected_error_fraction"
OF_SIDECARS = {"sidecar", "sidecar_side", "envoy_runtime"}
TWIN = Column("Compared with", "words", None)
ADDED = (
    (
        Column("CPU, services and sidecars, µs per request", "interval", "CPU, µs per request"),
        "cpu_per_request_proxied_ms",
        1e-3,
    ),
    (Column("CPU, services alone, µs per request", "interval", None), "cpu_per_request_services_ms", 1e-3),
    (Column("Latency, median, ms", "interval", "p50, ms"), "latency_p50_ms", 1.0),
    (Column("Latency, 99th percentile, ms", "interval", "p99, ms"), "latency_p99_ms", 1.0),
)
"""What sidecars add: the column, the metric, and how many of its units are one here."""


@dataclass(frozen=True)
class Resilience:
    """Everything that the page says of errors and sidecars."""

    origin: Sequence[tuple[str, str]]
    """Of each level whose sidecars retry: where what failed came from, in a sentence."""
    errors: Table
    """What failed at each level, all its valid trials together, and the share expected from the drawn errors."""
    added: Table
    """What sidecars add to the level that differs in them alone."""
    counted: Table
    """Each sidecar's counters, on average over a level's trials, under Envoy's names."""
    tested: Table
    """Two t tests of each level against the one that differs from it in its sidecars alone."""
    assumptions: Sequence[str]


def resilience(summary: Summary, trials: Sequence[TrialRecord]) -> Resilience | None:
    """Build the part; None where neither a level has sidecars nor an error is drawn."""
    found = {
        level: [trial for trial in summary.trials if trial.valid and trial.level == level] for level in summary.levels
    }
    if not any(_mode(summary, level) != NO_SIDECAR for level in found) and not any(
        EXPECTED in trial.values for trial in summary.trials
    ):
        return None
    pooled = failed(summary)
    covered = {level: _covered(summary, level, pooled[level], found[level]) for level in pooled}
    plain = [level for level, word in covered.items() if word]
    confidence = percent(summary.confidence)
    notes = [
        f"{confidence} intervals, all valid trials of a level together (exact; for fewer requests where trials differ "
        f"by more than chance). Drawn: the share expected from drawn errors alone, 1 {MINUS} (1 {MINUS} p)ⁿ where n "
        "services fail independently. Attempts and rejected retries: of all sidecars, per request."
    ]
    if plain:
        alone = _covered_trials(summary, [trial for level in plain for trial in found[level]])
        yes = sum(word == "yes" for word in covered.values())
        notes.append(
            f"Without patterns, the interval contains the drawn share at {yes} of {len(plain)} levels, and in "
            f"{alone} single trials; {confidence} of such intervals should."
        )
    return Resilience(
        origin=[(level, _origin(found[level])) for level in pooled if _tries_again(found[level])],
        errors=Table(
            "What failed",
            [
                LEVEL,
                Column("Requests", narrow=None),
                Column("Failed", narrow="failed"),
                Column("Share, %", "interval", "%"),
                Column("Drawn, %", narrow="drawn %"),
                Column("Covered", "words", "covered"),
                Column("Attempts", narrow="attempts"),
                Column("Retries rejected", narrow="rejected"),
                Column("Attempts used up", narrow=None),
            ],
            [_errors(summary, level, pooled[level], found[level], covered[level]) for level in pooled],
            notes,
        ),
        added=Table(
            "What sidecars add",
            [LEVEL, TWIN, Column("Blocks", narrow="blocks"), *(column for column, _, _ in ADDED)],
            [row for level in pooled if (row := _added(summary, level)) is not None],
            ["Compared with the same level without sidecars, paired within blocks."],
        ),
        counted=Table(
            "The mean of each Envoy's counters over trials, under Envoy's names, read at the trial's start and end",
            [LEVEL, Column("Sidecar", "words"), *map(Column, RETRIES)],
            _counted(trials),
        ),
        tested=Table(
            f"Mean latency with sidecars minus mean latency without: two-sample t tests over trials, with {confidence} "
            "intervals",
            [LEVEL, TWIN, Column("Difference", "interval"), *map(Column, ("p, Student", "p, Welch", "Trials"))],
            [row for level in pooled if (row := _tested(summary, level, found)) is not None],
        ),
        assumptions=ASSUMPTIONS["student"],
    )


def _errors(summary: Summary, level: str, pooled: Pooled, trials: Sequence[TrialSummary], covered: str) -> Row:
    bounds = pooled.interval(summary.confidence)
    means = ("attempts_per_request", "retries_refused_per_request", "retries_used_up_per_request")
    return [
        named(level),
        Cell(f"{pooled.count.total:,}"),
        Cell(f"{pooled.count.events:,}"),
        Cell(_percent(pooled.count.rate), interval(bounds.low, bounds.high, _percent)),
        Cell(_percent(trials[0].values.get(EXPECTED, 0.0))),
        Cell(covered),
        *(Cell(_mean(trials, metric)) for metric in means),
    ]


def _covered(summary: Summary, level: str, pooled: Pooled, trials: Sequence[TrialSummary]) -> str:
    """Say whether the interval covers what is expected; empty where sidecars or faults change that."""
    if _mode(summary, level) not in WITHOUT_PATTERNS or summary.levels[level].settings.get("faults"):
        return ""
    return "yes" if pooled.interval(summary.confidence).covers(trials[0].values.get(EXPECTED, 0.0)) else "no"


def _covered_trials(summary: Summary, trials: Sequence[TrialSummary]) -> str:
    """Count the trials whose own interval covers the share expected from the drawn errors."""
    alone = [(pooled_share(FAILED, [trial]), trial.values.get(EXPECTED, 0.0)) for trial in trials]
    known = [pooled.interval(summary.confidence).covers(expected) for pooled, expected in alone if pooled is not None]
    return f"{sum(known)} of {len(known)}"


def _percent(share: float) -> str:
    return number(100 * share)


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


def _counted(trials: Sequence[TrialRecord]) -> list[Row]:
    counted = [trial for trial in trials if trial.valid and trial.sidecars]
    of_level = {one.level: [trial for trial in counted if trial.level == one.level] for one in counted}
    return [
        [named(level), Cell(sidecar), *(Cell(number(_count(found, sidecar, name) / len(found))) for name in RETRIES)]
        for level, found in of_level.items()
        for sidecar in found[0].sidecars
    ]


def _count(trials: Sequence[TrialRecord], sidecar: str, name: str) -> int:
    return sum(
        value
        for trial in trials
        for counter, value in trial.sidecars[sidecar].counters.items()
        if counter.split(".", 2)[-1] == name
    )


def _added(summary: Summary, level: str) -> Row | None:
    """Compare a level with its twin without sidecars; None where there is none, or no block has both."""
    twin = _without_sidecars(summary, level)
    if twin is None:
        return None
    first = ADDED[0][1]
    blocks = len(paired(by_block(summary, level, first), by_block(summary, twin, first)))
    cells = [_less(summary, metric, level, twin, factor) for _, metric, factor in ADDED]
    return [named(level), named(twin), Cell(str(blocks)), *cells] if blocks else None


def _tested(summary: Summary, level: str, trials: Mapping[str, Sequence[TrialSummary]]) -> Row | None:
    """Test a level with sidecars against the one without; None where there is none, or too few trials."""
    twin = _without_sidecars(summary, level)
    if twin is None:
        return None
    one, other = ([trial.values[TESTED] for trial in trials[name] if TESTED in trial.values] for name in (level, twin))
    try:
        equal, unequal = student(one, other, summary.confidence), welch(one, other, summary.confidence)
    except ValueError:
        return None
    scale = scale_for(summary.metrics[TESTED].unit, [equal.difference])
    return [
        named(level),
        named(twin),
        Cell(f"{signed(equal.difference, scale)} {scale.unit}", interval(equal.low, equal.high, scale.show)),
        Cell(number(equal.p_value, 2)),
        Cell(number(unequal.p_value, 2)),
        Cell(f"{len(one)}, {len(other)}"),
    ]


LOST, SLOWEST, RECOVERED, AFTER = "requests_lost", "latency_slowest_ms", "recovered_fraction", "recovery_s"


def outages(summary: Summary) -> Table | None:
    """Build the table; None where no level with faults has a valid trial."""
    rows = [row for level in summary.levels if (row := _outage(summary, level)) is not None]
    if not rows:
        return None
    return Table(
        "What the faults did",
        [
            LEVEL,
            Column("Fault", "words", None),
            Column("Trials", narrow=None),
            Column("Requests lost", "interval", "lost"),
            Column("More than without sidecars", "interval", "more"),
            Column("Slowest, s", "interval", "slowest, s"),
            Column("Recovered", "words", "recovered"),
            Column("Time to recover, s", "interval", "after, s"),
        ],
        rows,
        [
            f"( ) are {percent(summary.confidence)} intervals. Lost: requests that failed between the fault's start "
            "and the recovery, above the usual share. Others may have waited; slowest: the longest wait. More: than "
            "the same level without sidecars, paired within blocks. Recovered: after how many faults requests were "
            "served as before, and how long after the fault's end."
        ],
    )


def _outage(summary: Summary, level: str) -> Row | None:
    faults: Sequence[Mapping[str, Any]] = summary.levels[level].settings.get("faults") or ()
    trials = [trial for trial in summary.trials if trial.valid and trial.level == level and LOST in trial.values]
    if not faults or not trials:
        return None
    twin = _without_sidecars(summary, level)
    return [
        named(level),
        Cell("; ".join(named_fault(fault) for fault in faults)),
        Cell(str(len(trials))),
        mean_of(summary, LOST, level),
        NOTHING if twin is None else _less(summary, LOST, level, twin),
        # What a fault does where requests wait for its end and none fails.
        mean_of(summary, SLOWEST, level, 1000),
        Cell(_recovered(trials, len(faults))),
        mean_of(summary, AFTER, level),
    ]


def named_fault(fault: Mapping[str, Any]) -> str:
    """Return what a declared fault is called in a table."""
    return f"{fault['target']} {fault['kind']} for {number(float(fault['length_s']), 2)} s"


def _recovered(trials: Sequence[TrialSummary], faults: int) -> str:
    """Count after how many faults requests were seen to be served as before."""
    seen = round(sum(faults * trial.values[RECOVERED] for trial in trials))
    return f"{seen} of {faults * len(trials)}"


def mean_of(summary: Summary, metric: str, level: str, factor: float = 1.0) -> Cell:
    """Show a level's mean; `factor` of the metric's units are one here."""
    estimate = summary.estimate_of(metric, level)
    if estimate is None:
        return NOTHING
    mean = divided(Interval(estimate.mean, estimate.mean_low, estimate.mean_high), factor)
    return Cell(number(mean.mean), within(mean, number))


def _mode(summary: Summary, level: str) -> str:
    """Return what the level's sidecars are: `none` where it has none."""
    return str(summary.levels[level].settings.get("sidecar", NO_SIDECAR))


def _without_sidecars(summary: Summary, level: str) -> str | None:
    """Return the level's twin; None where it has no sidecars itself, or there is none."""
    if _mode(summary, level) == NO_SIDECAR:
        return None
    wanted = _others(summary.levels[level].settings)
    return next(
        (
            name
            for name, one in summary.levels.items()
            if name != summary.placebo and _mode(summary, name) == NO_SIDECAR and _others(one.settings) == wanted
        ),
        None,
    )


def _less(summary: Summary, metric: str, level: str, twin: str, factor: float = 1.0) -> Cell:
    """Return the level's value less its twin's, paired within blocks; `factor` of the metric's units are one here."""
    pairs = paired(by_block(summary, level, metric), by_block(summary, twin, metric))
    if not pairs:
        return NOTHING
    difference = compare(pairs, summary.confidence, SEED, summary.block_correlation.get(metric, 0.0)).difference

    def show(value: float) -> str:
        return number(value / factor)

    sign = "+" if difference.mean > 0 else ""
    return Cell(f"{sign}{show(difference.mean)}", interval(difference.low, difference.high, show))


def _others(settings: Mapping[str, object]) -> dict[str, object]:
    """The settings that are not about sidecars."""
    return {name: value for name, value in settings.items() if name not in OF_SIDECARS}
