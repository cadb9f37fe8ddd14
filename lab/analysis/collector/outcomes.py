"""Which of the traces that a generator logged failed. Pure."""

from typing import Literal

import polars as pl

from lab.analysis.collector.sampling import Mode, kept, trace_ids
from lab.record.traces import UNSENT

# As collector/pipelines/sample.yaml states them.
SAMPLER_MODE: Mode = "hash_seed"
HASH_SEED = 22

Keeps = Literal["all", "sampled", "some"]
"""Which traces come back if nothing is lost: those that a sampler keeps by their IDs, or `some`, which no ID shows."""


def failed(traces: pl.DataFrame, keeps: Keeps, sampling_percent: float) -> pl.DataFrame:
    """Return the traces that failed: not accepted, or expected back and not returned in time.

    A sampled trace that does not come back has not failed. `sampling_percent` matters only if `keeps` is `sampled`.
    """
    late = pl.col("outcome") == "receive timeout"
    if keeps == "some":
        return traces.filter(UNSENT)
    missing = traces.filter(UNSENT | late)
    if keeps == "all" or missing.is_empty():
        return missing
    ids = trace_ids(missing["trace_id"].to_list())
    expected = pl.Series(kept(ids, SAMPLER_MODE, sampling_percent, HASH_SEED))
    return missing.filter(UNSENT | expected)
