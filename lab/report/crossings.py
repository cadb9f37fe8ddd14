"""Crossed factors: what the levels of one cost at each level of the other, and whether that differs."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.analysis.stats.compare import Cell as Place
from lab.analysis.stats.compare import Comparison, compare, holm, interactions, mean_of, paired
from lab.record import Finding, Summary
from lab.report.blocks import by_block
from lab.report.numbers import ratio, within
from lab.report.tables import NOTHING, Cell, Column, Table, finding
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
    ratios: Mapping[Place, Comparison]
    interactions: Mapping[Place, Comparison]
    findings: Mapping[Place, Finding]


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


def _crossed(summary: Summary, metric: str, names: Mapping[Place, str], reference: Place, seed: int) -> Crossed:
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


def crossing_table(summary: Summary, crossing: Crossing) -> Table:
    """Show what a level costs at each level of the second factor, and how many times more than at its first."""
    held = " and ".join(f"{factor} {level}" for factor, level in crossing.held.items())
    return Table(
        f"{crossing.title}{f', at {held}' if held else ''}",
        [
            Column("Metric", "words", "measure"),
            Column(crossing.factors[0], "words"),
            Column(f"at ({crossing.factors[1]})", "words"),
            Column(f"to {crossing.first[0]}", "interval", firm=True),
            Column(f"than at {crossing.second[0]}", "interval", firm=True),
            Column("Finding", "finding", "finding"),
            Column("Blocks", narrow=None),
        ],
        [
            [
                Cell(summary.metrics[metric.metric].title),
                *map(Cell, cell),
                _ratio(cost),
                *((Cell(), Cell()) if found is None else (_ratio(found), Cell(finding=finding(metric.findings[cell])))),
                Cell(str((found or cost).n)),
            ]
            for metric in crossing.metrics
            for cell, cost in metric.ratios.items()
            for found in (metric.interactions.get(cell),)
        ],
        [
            "Last ratio: how many times larger the cost is than at the other factor's first level, paired within "
            "blocks. 1: the factors' costs multiply, and neither changes the other."
        ],
    )


def _ratio(found: Comparison) -> Cell:
    return NOTHING if found.ratio is None else Cell(ratio(found.ratio.mean), within(found.ratio, ratio))
