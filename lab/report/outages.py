"""What faults did to requests, and how soon they were served as before."""

from collections.abc import Mapping, Sequence
from typing import Any

from lab.analysis.stats.intervals import Interval
from lab.record import Summary, TrialSummary
from lab.report.findings import estimate_of
from lab.report.numbers import divided, number, percent, within
from lab.report.tables import LEVEL, NOTHING, Cell, Column, Row, Table, named
from lab.report.twins import less, without_sidecars

LOST, SLOWEST, RECOVERED, AFTER = "requests_lost", "latency_slowest_ms", "recovered_fraction", "recovery_s"


def outages(summary: Summary) -> Table | None:
    """Build the table; None where no level with faults has a valid trial."""
    rows = [row for level in summary.levels if (row := _row(summary, level)) is not None]
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


def _row(summary: Summary, level: str) -> Row | None:
    faults: Sequence[Mapping[str, Any]] = summary.levels[level].settings.get("faults") or ()
    trials = [trial for trial in summary.trials if trial.valid and trial.level == level and LOST in trial.values]
    if not faults or not trials:
        return None
    twin = without_sidecars(summary, level)
    return [
        named(level),
        Cell("; ".join(_named(fault) for fault in faults)),
        Cell(str(len(trials))),
        _shown(summary, LOST, level),
        NOTHING if twin is None else less(summary, LOST, level, twin),
        # What a fault does where requests wait for its end and none fails.
        _shown(summary, SLOWEST, level, 1000),
        Cell(_recovered(trials, len(faults))),
        _shown(summary, AFTER, level),
    ]


def _named(fault: Mapping[str, Any]) -> str:
    return f"{fault['target']} {fault['kind']} for {number(float(fault['length_s']), 2)} s"


def _recovered(trials: Sequence[TrialSummary], faults: int) -> str:
    """Count after how many faults requests were seen to be served as before."""
    seen = round(sum(faults * trial.values[RECOVERED] for trial in trials))
    return f"{seen} of {faults * len(trials)}"


def _shown(summary: Summary, metric: str, level: str, factor: float = 1.0) -> Cell:
    """Show a level's mean; `factor` of the metric's units are one here."""
    estimate = estimate_of(summary, metric, level)
    if estimate is None:
        return NOTHING
    mean = divided(Interval(estimate.mean, estimate.mean_low, estimate.mean_high), factor)
    return Cell(number(mean.mean), within(mean, number))
