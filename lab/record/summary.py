"""`manifest.json`: everything needed to repeat a run; `summary.json`: every estimate of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from lab.record.files import Record, read_json, validated
from lab.record.results import Censoring

MANIFEST_FORMAT, MANIFEST_VERSION = "tollbooth.manifest", 2

Finding = Literal["higher", "lower", "same within margin", "inconclusive"]


class MetricSummary(Record):
    """What a metric is called; of a share, the metrics that count its events and all that there were."""

    title: str
    unit: str
    better: Literal["lower", "higher"]
    share_of: tuple[str, str] | None = None


class Column(Record):
    """A column of the main table: `metric` in its own unit divided by `per`; `heading` may have two lines."""

    metric: str
    heading: str
    per: float = 1


class Headline(Record):
    """Which metrics come first.

    `primary`: the one that answers the experiment's question; `what`: its name in a sentence. `also`: what the answer
    states besides. `compare`: the comparisons that answer it, (level, compared with); none: every level is compared
    with the baseline. `columns`: of the main table, after the primary's. `main`: of the report's first table and plots.
    """

    primary: str
    what: str
    columns: Sequence[Column] = ()
    main: Sequence[str] = ()
    also: Sequence[str] = ()
    compare: Sequence[tuple[str, str]] = ()


class LevelSummary(Record):
    """A level's settings; how many of its trials count, were rejected, or were valid in a set that had not settled."""

    settings: Mapping[str, Any]
    trials: int
    rejected: int
    not_settled: int = 0


class Estimate(Record):
    """One metric of one level, alone and against the baseline. None: there is nothing to compute it from."""

    metric: str
    level: str
    baseline: str
    mean: float
    mean_low: float | None = None
    mean_high: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    log_ratio_sd: float | None = None
    n: int
    p_value: float | None = None
    p_adjusted: float | None = None
    noise_floor: float | None = None
    finding: Finding | None = None
    censored: Censoring | None = None
    """`mean` is only a bound, since the search for some trial's value ended without finding it."""
    comparison_censored: Censoring | None = None
    """`ratio` and `difference` are only bounds, since the level's mean or the baseline's is one."""


class TrialSummary(Record):
    """One trial's verdict and values. `position`: its place in its block, from 0; older summaries do not say.

    `settled`: whether its set had settled; None: the set was not waited for.
    """

    trial: str
    level: str
    block: int
    position: int | None = None
    valid: bool
    settled: bool | None = None
    reasons: Sequence[str]
    values: Mapping[str, float]
    censored: Mapping[str, Censoring] = Field(default_factory=dict)
    """The metrics whose value is only a bound."""

    @property
    def counts(self) -> bool:
        """Whether estimates are made of it: a valid trial whose set had settled, or was not waited for."""
        return self.valid and self.settled is not False


class Adjustment(Record):
    """How a metric was adjusted to equal machine speed: as measured * (usual / covariate) ** exponent.

    `usual` is the covariate's geometric mean over the run. `explained`: the share of the metric's variance within
    windows, in `pieces` pieces, that goes with the covariate.
    """

    covariate: str
    usual: float
    exponent: float
    standard_error: float
    pieces: int
    explained: float


class PlaceAdjustment(Record):
    """How a metric was adjusted to equal places in the order of starts: as measured / the ratio of the trial's place.

    `ratios`: by place, to the geometric mean of all. `explained`: the share of what levels and blocks leave of the
    metric's variance that goes with the place. `by_chance`: the share that is expected where places add nothing, and
    `p_value` of the F test of that; older summaries, whose ratios were fitted one by one, do not say.
    """

    ratios: Sequence[float]
    explained: float
    by_chance: float | None = None
    p_value: float | None = None


class Summary(Record):
    """`summary.json`.

    `block_correlation`: of neighbouring blocks, by metric, where one was seen; the comparisons' intervals include it.
    """

    format: Literal["tollbooth.summary"] = "tollbooth.summary"
    version: Literal[2] = 2
    experiment: str
    title: str
    baseline: str
    placebo: str
    compared_with: tuple[str, ...]
    """The levels to whose mean, block by block, the others are compared."""
    headline: Headline
    confidence: float
    equivalence_margin: float
    metrics: Mapping[str, MetricSummary]
    levels: Mapping[str, LevelSummary]
    estimates: Sequence[Estimate]
    trials: Sequence[TrialSummary]
    adjustments: Mapping[str, Adjustment | PlaceAdjustment] = Field(default_factory=dict)
    """By the metric that was adjusted; none where it was not."""
    block_correlation: Mapping[str, float] = Field(default_factory=dict)
    alternating: bool = False
    """Whether its systems took turns. Older summaries do not say it."""

    def title_of(self, metric: str) -> str:
        """Return a metric's title; its name where the run has no value of it."""
        return self.metrics[metric].title if metric in self.metrics else metric

    def estimate_of(self, metric: str, level: str) -> Estimate | None:
        """Return a level's estimate of a metric; None where no trial that counts has it."""
        wanted = (metric, level)
        return next((found for found in self.estimates if (found.metric, found.level) == wanted), None)

    def estimates_of(self, metric: str) -> Mapping[str, Estimate]:
        """Return a metric's estimates by level; only of levels that have a value in a trial that counts."""
        return {row.level: row for row in self.estimates if row.metric == metric}

    def by_block(self, metric: str) -> Mapping[int, Mapping[str, float]]:
        """Return the values of a metric in the trials that count: by block, then by level."""
        found: dict[int, dict[str, float]] = {}
        for trial in self.trials:
            if trial.counts and metric in trial.values:
                found.setdefault(trial.block, {})[trial.level] = trial.values[metric]
        return found


def read_summary(path: Path) -> Summary:
    """Read `summary.json`."""
    return validated(Summary, read_json(path, "tollbooth.summary", 2), path)


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a results folder."""
    return read_json(folder / "manifest.json", MANIFEST_FORMAT, MANIFEST_VERSION)
