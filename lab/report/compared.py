"""The experiment's views with their numbers: what is compared besides each level with the baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from lab.errors import UserError
from lab.record import VERSION_HINT, Summary
from lab.report.crossings import Crossing, cross
from lab.report.facts import mapping
from lab.report.ladders import Ladder, climb_ladder
from lab.spec import Frontier, Interaction, Sweep, Waterfall, parse_views


@dataclass(frozen=True)
class Compared:
    """What the views of a run compare, kind by kind, in the experiment's order."""

    ladders: Sequence[Ladder] = ()
    sweeps: Sequence[Sweep] = ()
    crossings: Sequence[Crossing] = ()
    frontiers: Sequence[Frontier] = ()


def compare_views(summary: Summary, manifest: Mapping[str, Any]) -> Compared:
    """Take the views from the manifest's experiment; raises `UserError` where they are not ones."""
    spec = mapping(manifest.get("spec"))
    try:
        views = parse_views(spec.get("views") or [])
    except ValidationError as error:
        raise UserError("the manifest's views are not ones that this lab knows", VERSION_HINT) from error
    seed = int(manifest.get("seed") or 0)
    factors = {name: list(levels) for name, levels in mapping(spec.get("factors")).items()}
    return Compared(
        [climb_ladder(summary, view, seed) for view in views if isinstance(view, Waterfall)],
        [view for view in views if isinstance(view, Sweep)],
        [cross(summary, view, factors, seed) for view in views if isinstance(view, Interaction)],
        [view for view in views if isinstance(view, Frontier)],
    )
