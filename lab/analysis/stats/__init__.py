"""The statistics: pure functions over arrays. docs/explanation/statistics.md says what is computed and why."""

from lab.analysis.stats.adjustments import Slope, within_slope
from lab.analysis.stats.compare import Cell, Comparison, compare, holm, interactions, log_ratios, mean_of, paired
from lab.analysis.stats.intervals import FloatArray, Interval, blocks_for, bootstrap_standard_error, mean_interval
from lab.analysis.stats.margins import of_interactions, of_overheads
from lab.analysis.stats.proportions import Count, Pooled, difference, pool
from lab.analysis.stats.scatter import lessens_scatter
from lab.analysis.stats.serial import correlation_of, independent
from lab.analysis.stats.ttests import ASSUMPTIONS, student, welch

__all__ = [
    "ASSUMPTIONS",
    "Cell",
    "Comparison",
    "Count",
    "FloatArray",
    "Interval",
    "Pooled",
    "Slope",
    "blocks_for",
    "bootstrap_standard_error",
    "compare",
    "correlation_of",
    "difference",
    "holm",
    "independent",
    "interactions",
    "lessens_scatter",
    "log_ratios",
    "mean_interval",
    "mean_of",
    "of_interactions",
    "of_overheads",
    "paired",
    "pool",
    "student",
    "welch",
    "within_slope",
]
