"""Which traces tail sampling decided wrongly, because a Collector did not have all of their spans (claim C9). Pure.

The pipelines with tail sampling keep each trace with an error, and others as a whole or not at all. So a trace of
which only a part came back was decided wrongly, and so was one with an error that did not come back. What comes back
too late counts as not come back: at a rate that the stages cannot take, this share says nothing.
"""

import polars as pl

from lab.contract import Metric
from lab.record import NotDerivableError, TrialData
from lab.record.traces import SENT
from lab.target import delays

WRONG = ("traces_decided_wrongly", "traces_decided")
PIPELINES_END = "tail-sampling"
# What was not accepted, or was still under way at the end, was not decided about.
DECIDED = ("success", "receive timeout")


def decided(data: TrialData) -> pl.DataFrame:
    """Return the window's traces that tail sampling decided about; raises `NotDerivableError` if no stage samples."""
    settings = data.trial.settings
    stages = [settings["pipeline"], *([settings["edge_pipeline"]] if settings["edges"] else [])]
    if not any(name.endswith(PIPELINES_END) for name in stages):
        raise NotDerivableError("no stage samples tails")
    return delays.in_window(data, SENT).filter(pl.col("outcome").cast(pl.String).is_in(DECIDED))


def wrong(data: TrialData) -> int:
    """Return how many of them were decided wrongly."""
    # More than were sent came back if the Collector exported a request again.
    complete = pl.col("spans_received") >= pl.col("spans_sent")
    wanted = (pl.col("spans_received") > 0) | (pl.col("error") == 1)
    return len(decided(data).filter(wanted & ~complete))


def wrong_fraction(data: TrialData) -> float | None:
    """Return the share of the decided traces that were decided wrongly; None if there is none."""
    every = len(decided(data))
    return wrong(data) / every if every else None


METRICS = (
    Metric(WRONG[0], "Traces that tail sampling decided wrongly, counted", "", compute=wrong),
    Metric(
        WRONG[1],
        "Traces that tail sampling decided about, counted",
        "",
        "higher",
        compute=lambda data: len(decided(data)),
    ),
    Metric(
        "traces_decided_wrongly_fraction",
        "Traces that tail sampling decided wrongly",
        "fraction",
        share_of=WRONG,
        compute=wrong_fraction,
    ),
)
