"""The report's part on faults and what came after, as plain data; `templates/outages.html` shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.analysis.stats.intervals import Interval
from lab.record import Summary, TrialSummary
from lab.report.cells import NOTHING, Shown
from lab.report.findings import estimate_of
from lab.report.numbers import divided, number, percent, within
from lab.report.twins import less, without_sidecars

LOST, SLOWEST, RECOVERED, AFTER = "requests_lost", "latency_slowest_ms", "recovered_fraction", "recovery_s"


@dataclass(frozen=True)
class OutageRow:
    """What a level's faults did to its requests."""

    level: str
    faults: str
    trials: str
    lost: Shown
    more: Shown
    """Lost, less what the level without these sidecars lost."""
    slowest_s: Shown
    """What a fault does where requests wait for its end and none fails."""
    recovered: str
    after_s: Shown


@dataclass(frozen=True)
class Outages:
    """Everything that the page says of faults."""

    confidence: str
    rows: Sequence[OutageRow]


def outages(summary: Summary) -> Outages | None:
    """Build the part; None where no level with faults has a valid trial."""
    rows = [row for level in summary.levels if (row := _row(summary, level)) is not None]
    return Outages(percent(summary.confidence), rows) if rows else None


def _row(summary: Summary, level: str) -> OutageRow | None:
    faults: Sequence[Mapping[str, Any]] = summary.levels[level].settings.get("faults") or ()
    trials = [trial for trial in summary.trials if trial.valid and trial.level == level and LOST in trial.values]
    if not faults or not trials:
        return None
    twin = without_sidecars(summary, level)
    return OutageRow(
        level=level,
        faults="; ".join(_named(fault) for fault in faults),
        trials=str(len(trials)),
        lost=_shown(summary, LOST, level),
        more=NOTHING if twin is None else less(summary, LOST, level, twin),
        slowest_s=_shown(summary, SLOWEST, level, 1000),
        recovered=_recovered(trials, len(faults)),
        after_s=_shown(summary, AFTER, level),
    )


def _named(fault: Mapping[str, Any]) -> str:
    return f"{fault['target']} {fault['kind']} for {number(float(fault['length_s']), 2)} s"


def _recovered(trials: Sequence[TrialSummary], faults: int) -> str:
    """Count after how many faults requests were seen to be served as before."""
    seen = round(sum(faults * trial.values[RECOVERED] for trial in trials))
    return f"{seen} of {faults * len(trials)}"


def _shown(summary: Summary, metric: str, level: str, factor: float = 1.0) -> Shown:
    """Show a level's mean; `factor` of the metric's units are one here."""
    estimate = estimate_of(summary, metric, level)
    if estimate is None:
        return NOTHING
    mean = divided(Interval(estimate.mean, estimate.mean_low, estimate.mean_high), factor)
    return Shown(number(mean.mean), within(mean, number))
