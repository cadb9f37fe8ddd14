"""Some levels of an experiment only. Pure."""

import itertools
from collections.abc import Collection, Mapping
from typing import Any

from lab.spec.experiment import PLACEBO, ExperimentFile
from lab.spec.problems import SpecError
from lab.spec.views import HeadlineChoice, Interaction, View, unknown_names


def only_levels(file: ExperimentFile, names: str) -> dict[str, Any]:
    """Return the fields of a file with these levels of its factors, joined with commas, and the baseline's.

    A factor of which no level is named keeps all of them; without any name, all factors do. What compares or draws a
    level that is gone is left out. Raises `SpecError` for a level that no factor has.
    """
    if not names:
        return dict(file)
    wanted = [name.strip() for name in names.split(",")]
    known = {name for levels in file.factors.values() for name in levels}
    if problems := list(
        unknown_names({("--levels", index): name for index, name in enumerate(wanted)}, known, "level")
    ):
        raise SpecError(problems)
    baseline = dict(zip(file.factors, file.baseline.split("/"), strict=False))
    factors = {
        factor: {name: patch for name, patch in levels.items() if name in wanted or name == baseline.get(factor)}
        if not levels.keys().isdisjoint(wanted)
        else levels
        for factor, levels in file.factors.items()
    }
    left = {"/".join(names) for names in itertools.product(*factors.values())} | {PLACEBO}
    return {
        **dict(file),
        "factors": factors,
        "headline": _compared(file.headline, left),
        "views": [view for view in file.views if _whole(view, left, factors)],
    }


def _compared(headline: HeadlineChoice | None, left: Collection[str]) -> HeadlineChoice | None:
    """Return what answers the question without comparisons of levels that are gone."""
    if headline is None:
        return None
    compare = [contrast for contrast in headline.compare if contrast.level in left and contrast.to in left]
    return headline.model_copy(update={"compare": compare})


def _whole(view: View, left: Collection[str], factors: Mapping[str, Collection[str]]) -> bool:
    """Return whether all levels of a view are left, or more than one of each of its factors."""
    if isinstance(view, Interaction):
        return all(len(factors[factor]) > 1 for factor in view.factors if factor in factors)
    return all(level in left for level in view.levels)
