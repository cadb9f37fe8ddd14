"""`combined.json`: several runs of one design, taken together (format: docs/reference/formats.md)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from lab.record.files import Record, write_json_atomic
from lab.record.summary import Finding, Headline, MetricSummary


class CombinedRun(Record):
    """One of the runs. `run`: the name of its folder; `left_out`: why its numbers do not count, if they do not.

    `rejected_blocks`: blocks in which some level has no valid trial. `not_settled_blocks`: other blocks, in which some
    system had not settled; no estimate contains them. `rejected`: by level, how many trials, without those that were
    rejected only with their set.
    """

    run: str
    started: str
    seed: int
    revision: str | None
    blocks: int
    rejected_blocks: int
    not_settled_blocks: int = 0
    rejected: Mapping[str, int]
    left_out: str | None = None


class RunValue(Record):
    """What one run says of a metric and level; None where it has no such value."""

    run: str
    mean: float
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None


class CombinedEstimate(Record):
    """One metric of one level over `n` runs: unweighted means of the runs' means and of their log ratios.

    `*_low` and `*_high` are t intervals of these means, `next_*` the interval for the ratio of one more run.
    `log_ratio_sd`: the runs' standard deviation. None: too few runs, or no ratio.
    """

    metric: str
    level: str
    n: int
    mean: float
    mean_low: float | None = None
    mean_high: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    next_low: float | None = None
    next_high: float | None = None
    log_ratio_sd: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    finding: Finding | None = None
    runs: Sequence[RunValue]


class Combined(Record):
    """`combined.json`. `no_prediction`: why there is no interval for the next run; None where there is one.

    `differences`: what the runs do not share besides the seed and what ends a run, such as `machine.kernel`.
    """

    format: Literal["tollbooth.combined"] = "tollbooth.combined"
    version: Literal[1] = 1
    experiment: str
    title: str
    baseline: str
    placebo: str
    headline: Headline
    confidence: float
    equivalence_margin: float = 0.05
    metrics: Mapping[str, MetricSummary]
    runs: Sequence[CombinedRun]
    differences: Sequence[str]
    no_prediction: str | None
    estimates: Sequence[CombinedEstimate]


def write_combined(path: Path, combined: Combined) -> None:
    """Write `combined.json` completely or not at all."""
    write_json_atomic(path, combined.model_dump(mode="json"))
