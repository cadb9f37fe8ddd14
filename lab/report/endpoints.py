"""Which share of the spans went to one of several endpoints, and which share was dropped."""

from lab.record import Summary
from lab.report.numbers import percent
from lab.report.resilience import mean_of, named_fault
from lab.report.tables import LEVEL, Cell, Column, Table, named

SHARE, DROPPED, LOST = "first_endpoint_share", "spans_dropped_fraction", "spans_lost_fraction"
PERCENT = 0.01


def endpoints_table(summary: Summary) -> Table | None:
    """Say of each level which share of the spans went to its first endpoint, and what was dropped; None without any."""
    levels = [level for level in summary.levels if summary.estimate_of(SHARE, level)]
    if not levels:
        return None
    return Table(
        "Which share of the spans went to the first endpoint",
        [
            LEVEL,
            Column("Its fault", "words", None),
            Column("Its share, %", "interval", "share %"),
            Column("Dropped by tracers, %", "interval", "dropped %"),
            Column("Not delivered, %", "interval", "not delivered %"),
        ],
        [
            [
                named(level),
                Cell("; ".join(map(named_fault, summary.levels[level].settings.get("faults") or ()))),
                *(mean_of(summary, metric, level, PERCENT) for metric in (SHARE, DROPPED, LOST)),
            ]
            for level in levels
        ],
        [
            f"( ) are {percent(summary.confidence)} intervals. Its share: in the time of its fault, or else in the "
            "window. Dropped: of all spans that ended, those that found the queue full, that no endpoint took, or that "
            "were given up. Not delivered: of the predicted spans; what arrived twice counts once."
        ],
    )
