"""Contradictions between declared faults, each valid by itself: reported before anything starts. Pure."""

import itertools
from collections.abc import Iterator, Mapping, Sequence

from lab.fault.fault import DeclaredFault
from lab.fault.sink import SinkFault
from lab.spec import Path, Problem, suggestion


def contradictions(faults: Sequence[DeclaredFault], window_s: float | None, where: Path) -> Iterator[Problem]:
    """Yield the faults that do not fit into the window, or contradict each other.

    `window_s`: None if the load's end, not a clock, ends the window. `where` is the path to the list of faults.
    """
    for index, fault in enumerate(faults):
        end_s = fault.latest_s + fault.length_s
        if fault.latest_s < fault.earliest_s:
            yield Problem(
                (*where, index, "start_s"),
                f"the earliest, {fault.earliest_s:g}, is after the latest, {fault.latest_s:g}",
            )
        elif window_s is not None and end_s > window_s:
            yield Problem(
                (*where, index),
                f"{fault.what} may last until {end_s:g} s after the start of the window, which is {window_s:g} s long",
            )
    for (_, one), (index, other) in itertools.combinations(enumerate(faults), 2):
        apart = one.earliest_s >= other.latest_s + other.length_s or other.earliest_s >= one.latest_s + one.length_s
        if not apart and (why := _clash(one, other)):
            yield Problem((*where, index), f"{other.what} and {one.what} may be at the same time: {why}")


def unknown_targets(faults: Sequence[DeclaredFault], roles: Mapping[str, str], where: Path) -> Iterator[Problem]:
    """Yield the faults whose target the level does not have, or whose target's role they are no fault of."""
    for index, fault in enumerate(faults):
        possible = [name for name, role in roles.items() if role in fault.roles]
        if fault.target not in possible:
            yield Problem(
                (*where, index, "target"),
                f"{fault.kind} has no target '{fault.target}' here; {suggestion(fault.target, possible)}",
            )


def without_sidecar(faults: Sequence[DeclaredFault], where: Path) -> Iterator[Problem]:
    """Return the faults that a level without sidecars cannot have."""
    return (
        Problem(
            (*where, index, "kind"),
            f"{fault.what} needs a sidecar, and this level has none: add one, or leave the fault out",
        )
        for index, fault in enumerate(faults)
        if fault.needs_sidecar
    )


def _clash(one: DeclaredFault, other: DeclaredFault) -> str | None:
    if isinstance(one, SinkFault) and isinstance(other, SinkFault):
        return "both change the sink, which every endpoint sends to"
    if one.target != other.target:
        return None
    if stopping := next((fault for fault in (one, other) if fault.stops), None):
        return f"no other fault of a node can be verified while it is {stopping.kind}"
    return f"both change its {one.part}" if one.part == other.part else None
