"""Crossed factors: what the levels of one cost at each level of the other, and whether that differs."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.stats.compare import Cell, Comparison, compare, holm, interactions, mean_of, paired
from lab.record import Finding, Summary
from lab.report.blocks import by_block
from lab.spec import Interaction

FURTHER = ("memory_services_mean_mib", "latency_p95_ms")
"""The metrics that are compared besides the headline's."""


@dataclass(frozen=True)
class Crossed:
    """One metric, by (level of the first factor, level of the second).

    `ratios`: to the first factor's reference level, at that same level of the second. `interactions`: how many
    times larger that ratio is than at the second's reference level, with what that allows to say.
    """

    metric: str
    ratios: Mapping[Cell, Comparison]
    interactions: Mapping[Cell, Comparison]
    findings: Mapping[Cell, Finding]


@dataclass(frozen=True)
class Crossing:
    """An interaction view with its numbers; the first level of each factor is its reference, the baseline's.

    `held`: the other factors, each with the level that all of this was measured at, the baseline's.
    """

    title: str
    factors: Sequence[str]
    held: Mapping[str, str]
    first: Sequence[str]
    second: Sequence[str]
    metrics: Sequence[Crossed]


def cross(summary: Summary, view: Interaction, factors: Mapping[str, Sequence[str]], seed: int) -> Crossing:
    """Compare all combinations of two of an experiment's `factors` (level names by factor, in the file's order).

    The baseline's combination has the mean of all levels that the run compares with, as everywhere else.
    """
    reference = dict(zip(factors, summary.baseline.split("/"), strict=True))
    one, other = view.factors
    first, second = (
        [reference[factor], *(level for level in factors[factor] if level != reference[factor])]
        for factor in (one, other)
    )
    names = {
        (a, b): "/".join((reference | {one: a, other: b})[factor] for factor in factors)
        for a, b in itertools.product(first, second)
    }
    found = [
        _crossed(summary, metric, names, (first[0], second[0]), seed)
        for metric in dict.fromkeys((summary.headline.primary, *FURTHER))
    ]
    held = {factor: level for factor, level in reference.items() if factor not in view.factors}
    return Crossing(view.title, view.factors, held, first, second, [crossed for crossed in found if crossed.ratios])


def _crossed(summary: Summary, metric: str, names: Mapping[Cell, str], reference: Cell, seed: int) -> Crossed:
    cells = {cell: by_block(summary, name, metric) for cell, name in names.items()}
    cells[reference] = mean_of([by_block(summary, name, metric) for name in summary.compared_with])
    ratios = {}
    for (a, b), blocks in cells.items():
        pairs = paired(blocks, cells[reference[0], b])
        if a != reference[0] and pairs:
            ratios[a, b] = compare(pairs, summary.confidence, seed)
    differing = interactions(cells, reference, summary.confidence, seed)
    # Holm's method names what it corrects by text.
    p_values = {"/".join(cell): found.p_value for cell, found in differing.items()}
    adjusted = holm({name: p_value for name, p_value in p_values.items() if p_value is not None})
    alpha, margin = 1 - summary.confidence, summary.equivalence_margin
    return Crossed(
        metric,
        ratios,
        differing,
        {cell: found.finding(adjusted.get("/".join(cell)), alpha, margin) for cell, found in differing.items()},
    )
