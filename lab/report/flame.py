"""The report's part on profiles: a flame graph per level, and tables of what it adds, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from lab.analysis.profile.compare import Group, Pair, by_library, by_thread, together, tree
from lab.analysis.profile.records import Profile, level_folder, read_profile
from lab.record import Summary
from lab.report.figures.flame import MS, flame
from lab.report.findings import estimate_of
from lab.report.numbers import DASH, fixed, number, signed

CPU = "cpu_per_request_services_ms"
MOST_ADDED, MOST_SAVED = 12, 3
METHODS_SHOWN = 2


@dataclass(frozen=True)
class Row:
    """Who is charged, CPU per request there, at the baseline and between them, and the methods that add most."""

    name: str
    level: str
    baseline: str
    added: str
    margin: str
    sure: bool
    methods: Sequence[str] = ()


@dataclass(frozen=True)
class Flame:
    """What one level adds to the baseline."""

    level: str
    added: str
    figure: Markup
    libraries: Sequence[Row]
    threads: Sequence[Row]


@dataclass(frozen=True)
class Profiled:
    """A profiled trial, and the mean of the measured trials."""

    level: str
    samples: str
    requests: str
    profiled_ms: str
    measured_ms: str
    reasons: Sequence[str]


@dataclass(frozen=True)
class Profiles:
    """The section's data. Without flames the baseline was not profiled, or nothing else was."""

    flames: Sequence[Flame]
    trials: Sequence[Profiled]


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
        [_profiled(profile, summary) for profile in found.values()],
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
        libraries=_rows(libraries),
        threads=_rows(threads),
    )


def _rows(groups: Sequence[Group]) -> Sequence[Row]:
    """Return what adds most, what saves most, the others as one row, and the sum of all."""
    added = [group for group in groups if group.cost.added.ms > 0][:MOST_ADDED]
    saved = [group for group in groups if group.cost.added.ms < 0][-MOST_SAVED:]
    others = [group for group in groups if group not in (*added, *saved)]
    rest = [together(others, f"{len(others)} others")] if others else []
    return [_row(group) for group in (*added, *rest, *saved, together(groups, "together"))]


def _row(group: Group) -> Row:
    cost = group.cost
    return Row(
        name=group.name,
        level=fixed(cost.level.ms, 2),
        baseline=fixed(cost.baseline.ms, 2),
        added=signed(cost.added.ms, MS),
        margin=f"±{fixed(cost.added.margin_ms, 2)}",
        sure=cost.sure,
        methods=[f"{name} {signed(pair.added.ms, MS)}" for name, pair in group.most_added(METHODS_SHOWN)],
    )


def _profiled(profile: Profile, summary: Summary) -> Profiled:
    record = profile.record
    measured = estimate_of(summary, CPU, record.level)
    requests = max(node.requests for node in record.nodes.values())
    return Profiled(
        level=record.level,
        samples=f"{record.samples:,}",
        requests=f"{requests:,.0f}",
        profiled_ms=number(record.cpu_per_request_ms),
        measured_ms=DASH if measured is None else number(measured.mean),
        reasons=[] if profile.trial.valid else list(profile.trial.reasons),
    )


def _added(cost: Pair) -> str:
    return f"{signed(cost.added.ms, MS)} ms"
