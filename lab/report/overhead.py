"""What an overhead consists of, what systems that alternate use between and during their turns, and of the machine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lab.analysis.checks import MACHINE_FRACTION
from lab.analysis.metrics.alternating import BUSY, IDLE, WITHOUT_IDLE
from lab.analysis.metrics.speed import as_measured_name
from lab.analysis.sets import alternating
from lab.record import Estimate, Summary
from lab.report.findings import references, within_noise
from lab.report.numbers import DASH, Scale, decimals_of, fixed, number, percent, signed
from lab.report.tables import LEVEL, NOTHING, Cell, Column, Table, mean_cell, named

CPU = "cpu_per_request_services_ms"
JIT_FRACTION = "jit_cpu_fraction"
PARTS = (
    ("jit_cpu_per_request_ms", "JIT compilation", "JIT"),
    ("gc_cpu_per_request_ms", "Garbage collection", "GC"),
    ("exporter_cpu_per_request_ms", "Export of telemetry", "export"),
)
"""The threads that are counted apart: the metric, and what the page and the terminal call it."""


@dataclass(frozen=True)
class Overhead:
    """`tables`: a row per level, for page and terminal. `sets`: each system of each set, for the page alone."""

    tables: Sequence[Table] = ()
    sets: Table | None = None


def overhead(summary: Summary) -> Overhead:
    """Build the tables that the run has values for: none where the CPU of threads was not recorded."""
    counted = any(metric in summary.metrics for metric, _, _ in PARTS)
    turns = alternating(summary)
    return Overhead(
        [*([_parts(summary)] if counted else []), *([_in_turns(summary)] if turns else [])],
        _sets(summary) if turns else None,
    )


def machine_used(summary: Summary) -> list[str]:
    """Say how much of the machine systems used that ran at once; nothing where the run has no value of it."""
    busy = [trial.values[BUSY] for trial in summary.trials if BUSY in trial.values]
    if not busy:
        return []
    # Two ends that look alike are said once.
    ends = dict.fromkeys(percent(end).removesuffix(" %") for end in (min(busy), max(busy)))
    used = f"Under load, the lab's containers used {' to '.join(ends)} % of the machine, without the spinner"
    return [f"{used} (limit {percent(MACHINE_FRACTION)})."]


def _total(summary: Summary) -> str:
    """Return the services' CPU as measured, as its parts are."""
    return next((name for name in (as_measured_name(CPU), CPU) if name in summary.metrics), CPU)


def _parts(summary: Summary) -> Table:
    rows = {level: summary.estimate_of(_total(summary), level) for level in summary.levels}
    largest = max((abs(row.difference) for row in rows.values() if row and row.difference), default=0.0)
    scale = Scale("ms", 1.0, decimals_of(largest))
    found = any(row and _found(row) for row in rows.values())
    share = Column("of\N{NO-BREAK SPACE}it" if found else "", narrow="%" if found else None)
    return Table(
        "CPU beyond the baseline's, and its parts (services, ms per request)",
        [
            LEVEL,
            Column("Overhead", "interval", "overhead"),
            *(column for _, title, narrow in PARTS for column in (Column(title, "interval", narrow), share)),
            Column("JIT of all, %", "interval", "JIT of\nall, %"),
        ],
        [
            [
                named(level),
                _beyond(row, scale),
                *(
                    cell
                    for metric, _, _ in PARTS
                    for part in (summary.estimate_of(metric, level),)
                    for cell in (_beyond(part, scale), _share(part, row))
                ),
                mean_cell(summary, summary.estimate_of(JIT_FRACTION, level)),
            ]
            for level, row in rows.items()
        ],
        [
            f"Differences from {references(summary)}, as measured, paired within blocks, with "
            f"{percent(summary.confidence)} intervals. %: share of the overhead, if that is a finding beyond the "
            "noise. The rest is all other threads. JIT of all: the share of JIT compilation in the level's CPU."
        ],
    )


def _beyond(estimate: Estimate | None, scale: Scale) -> Cell:
    if estimate is None or estimate.difference is None:
        return NOTHING
    shown = Cell(signed(estimate.difference, scale))
    if estimate.difference_low is None or estimate.difference_high is None:
        return shown
    return replace(shown, interval=f"± {scale.show((estimate.difference_high - estimate.difference_low) / 2)}")


def _share(part: Estimate | None, total: Estimate | None) -> Cell:
    """Divide a part by an overhead that was found: of what may be nothing there are no shares."""
    if part is None or part.difference is None or total is None or not total.difference or not _found(total):
        return Cell()
    return Cell(f"{fixed(100 * part.difference / total.difference, 0)} %")


def _found(total: Estimate) -> bool:
    return total.finding in {"higher", "lower"} and not within_noise(total)


def _shown_in_turns(summary: Summary) -> list[tuple[str, str, str]]:
    """Return the metrics that the run has, and what the page and the terminal call them."""
    found = (
        (IDLE, "Idle cores", "idle\ncores"),
        (_total(summary), "CPU per request, ms", "CPU\nms/req."),
        (WITHOUT_IDLE, "CPU without idle, ms", "without\nidle"),
        ("gc_cpu_per_request_ms", "CPU of GC, ms per request", "of GC\nms/req."),
        ("gc_count_per_request", "Collections per request", "collections\nper req."),
    )
    return [one for one in found if one[0] in summary.metrics]


def _in_turns(summary: Summary) -> Table:
    found = _shown_in_turns(summary)
    return Table(
        "Idle CPU and garbage collection of the services",
        [LEVEL, *(Column(title, "interval", narrow) for _, title, narrow in found)],
        [
            [named(level), *(mean_cell(summary, summary.estimate_of(metric, level)) for metric, _, _ in found)]
            for level in summary.levels
        ],
        [
            "Idle cores: CPU in the times without load. Without idle: CPU "
            "per request, less what the services use in the same time without any. All as measured."
        ],
    )


def _sets(summary: Summary) -> Table:
    found = _shown_in_turns(summary)
    order = list(summary.levels)
    trials = sorted(summary.trials, key=lambda trial: (trial.block, order.index(trial.level)))
    return Table(
        "Each system of each set, as measured; without values: rejected",
        [
            Column("Set", "words"),
            LEVEL,
            Column("Started as"),
            *(Column(title) for _, title, _ in found),
        ],
        [
            [
                Cell(str(trial.block + 1)),
                named(trial.level),
                Cell(DASH if trial.position is None else str(trial.position + 1)),
                *(Cell(number(trial.values.get(metric))) for metric, _, _ in found),
            ]
            for trial in trials
        ],
    )
