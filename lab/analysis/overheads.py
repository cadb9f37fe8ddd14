"""What one level adds to baselines, by what another one adds to them. Pure."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from lab.analysis.claims.evidence import evidence
from lab.analysis.stats import Interval
from lab.record import Summary


def overhead_ratio(
    summary: Summary, metric: str, first: str, second: str, baselines: Sequence[str], seed: int
) -> Interval | None:
    """Return the first level's overhead by the second's, both above the mean of `baselines`, with Fieller's interval.

    None where fewer than two blocks have all of these levels, or where the second overhead is not found.
    """
    blocks = [
        [found[first], found[second], fmean(found[name] for name in baselines)]
        for found in summary.by_block(metric).values()
        if {first, second, *baselines} <= found.keys()
    ]
    if len(blocks) < 2:
        return None
    ratio = evidence("overhead ratio", np.array(blocks), seed, summary.block_correlation.get(metric, 0.0))
    if ratio.estimate is None:
        return None
    low, high = ratio.interval(summary.confidence) or (None, None)
    return Interval(ratio.estimate, low, high)
