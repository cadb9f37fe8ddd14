"""The report's part on profiles: a flame graph per level, and tables of what it adds, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from lab.analysis.profile.compare import Group, Pair, by_library, by_thread, together, tree
from lab.analysis.profile.records import Profile, level_folder, read_profile
from lab.record import Summary
from lab.report.figures.flame import MS, flame
from lab.report.numbers import fixed, number, signed
from lab.report.tables import LEVEL, Cell, Column, Row, Table, named

CPU = "cpu_per_request_services_ms"
MOST_ADDED, MOST_SAVED = 12, 3
METHODS_SHOWN = 2


@dataclass(frozen=True)
class Flame:
    """What one level adds to the baseline."""

    level: str
    added: str
    figure: Markup
    libraries: Table
    threads: Table


@dataclass(frozen=True)
class Profiles:
    """The section's data. Without flames the baseline was not profiled, or nothing else was."""

    flames: Sequence[Flame]
    trials: Table
    """The profiled trials, and the mean of the measured ones."""


def profiles(results_dir: Path, summary: Summary) -> Profiles | None:
    """Read a run's profiles and compare each level's with the baseline's; None where the run made none.

    Raises `UserError` where a profile's file is missing or broken.
    """
    folders = {level: results_dir / "profiles" / level_folder(level) for level in summary.levels}
    found = {level: read_profile(folder) for level, folder in folders.items() if folder.exists()}
    if not found:
        return None
    baseline = found.get(summary.baseline)
    others = [level for level in found if level != summary.baseline]
    return Profiles(
        [_flame(index, found[level], baseline) for index, level in enumerate(others, start=1)] if baseline else [],
        Table(
            "CPU time per request as the kernel counts it: with the profiler, and without it (the mean of the measured "
            "trials)",
            [
                LEVEL,
                *map(Column, ("Samples", "Requests", "Profiled, ms", "Measured, ms")),
                Column("Would be rejected because", "words"),
            ],
            [_profiled(profile, summary) for profile in found.values()],
        ),
    )


def _flame(index: int, profile: Profile, baseline: Profile) -> Flame:
    level, base = profile.record.level, baseline.record.level
    root = tree(profile.costs, baseline.costs, "all services")
    libraries, threads = by_library(profile.costs, baseline.costs), by_thread(profile.costs, baseline.costs)
    most = ", ".join(f"{group.name} {_added(group.cost)}" for group in libraries[:MOST_ADDED] if group.cost.sure)
    description = (
        f"{level} compared with {base}, {_added(root.cost)} per request. Beyond sampling: {most or 'nothing'}."
    )
    return Flame(
        level=level,
        added=_added(root.cost),
        figure=flame(f"flame-{index}", root, f"Where {level} spends CPU time that {base} does not", description),
        libraries=_table(
            "What each library adds, including the JDK's code that it calls but not other libraries",
            "Library",
            base,
            libraries,
        ),
        threads=_table("The same, by kind of thread", "Thread", base, threads),
    )


def _table(title: str, head: str, base: str, groups: Sequence[Group]) -> Table:
    """Show what adds most, what saves most, the others as one row, and the sum of all."""
    added = [group for group in groups if group.cost.added.ms > 0][:MOST_ADDED]
    saved = [group for group in groups if group.cost.added.ms < 0][-MOST_SAVED:]
    others = [group for group in groups if group not in (*added, *saved)]
    rest = [together(others, f"{len(others)} others")] if others else []
    return Table(
        title,
        [
            Column(head, "words"),
            Column("There, ms"),
            Column(f"{base}, ms"),
            Column("Added, ms", "interval"),
            Column("Methods that add most, ms", "words"),
        ],
        [_row(group) for group in (*added, *rest, *saved)],
        last=_row(together(groups, "together")),
    )


def _row(group: Group) -> Row:
    cost = group.cost
    methods = (f"{name} {signed(pair.added.ms, MS)}" for name, pair in group.most_added(METHODS_SHOWN))
    return [
        Cell(group.name),
        Cell(fixed(cost.level.ms, 2)),
        Cell(fixed(cost.baseline.ms, 2)),
        Cell(signed(cost.added.ms, MS), f"±{fixed(cost.added.margin_ms, 2)}", sure=cost.sure),
        Cell(", ".join(methods)),
    ]


def _profiled(profile: Profile, summary: Summary) -> Row:
    record = profile.record
    measured = summary.estimate_of(CPU, record.level)
    requests = max(node.requests for node in record.nodes.values())
    return [
        named(record.level),
        Cell(f"{record.samples:,}"),
        Cell(f"{requests:,.0f}"),
        Cell(number(record.cpu_per_request_ms)),
        Cell(number(measured.mean if measured else None)),
        Cell("" if profile.trial.valid else "; ".join(profile.trial.reasons)),
    ]


def _added(cost: Pair) -> str:
    return f"{signed(cost.added.ms, MS)} ms"
