"""Whether a short trial of a search meets the objective: nothing failed, traces came back soon, no queue grew. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from lab.analysis.collector.outcomes import Keeps, failed
from lab.record import SECOND_NS, Fields, Series
from lab.record.search import ShortTrial
from lab.record.traces import COMPLETE

# More than 1 % later than the bound: the delays' 99th percentile is above it.
LATE_SHARE = 0.01
# A queue grows if it keeps more than this share of what is sent. A queue of constant length keeps nothing.
QUEUED_SHARE = 0.01
# The first and the last of so many parts of a trial are compared. A pause of the garbage collector is shorter than half
# of one, so it does not change its median.
PARTS = 5
# An exporter has ten consumers by default, each with a request, and the queue's length is read at any moment.
IDLE_REQUESTS = 20

Collectors = Mapping[str, Fields]


@dataclass(frozen=True)
class Objective:
    """What a trial has to meet, and what is known of its traces.

    `delay_p99_ms`: bound of the 99th percentile, from when a trace was due until it was back, or accepted if none come
    back. `keeps`, `sampling_percent`: which traces come back.
    """

    delay_p99_ms: float
    traces_per_request: int
    keeps: Keeps
    sampling_percent: float

    def judge(self, traces: pl.DataFrame, collectors: Collectors, duration_s: float, traces_per_s: float) -> ShortTrial:
        """Return what a trial of this length and rate left: its log, and the counters of Collectors until now."""
        start_ns = int(traces["intended_ns"].min() or 0)  # type: ignore[arg-type]
        end_ns = start_ns + round(duration_s * SECOND_NS)
        sent = traces.filter(pl.col("outcome") != "empty")
        lost = self._lost(sent)
        back = _back(sent)
        late = float((back["delay_ns"] > self.delay_p99_ms * 1e6).mean() or 0)  # type: ignore[arg-type]
        queued = max(
            _kept_by_delay(back, start_ns, end_ns),
            _kept_by_queues(collectors, start_ns, end_ns, traces_per_s / self.traces_per_request),
        )
        spans, dropped = int(sent["spans_sent"].sum()), _dropped(collectors, start_ns)
        failed_by = _failed_by(sent, lost, back, late, queued, dropped)
        # A hint at how much too high the rate was. Behind a queue that grows, nearly all traces are late.
        excess = max(len(lost) / max(len(sent), 1), dropped / max(spans, 1), queued) or late
        return ShortTrial(
            start_ns=start_ns,
            duration_s=duration_s,
            traces_per_s=traces_per_s,
            due=len(traces),
            traces=len(sent),
            spans=spans,
            failed=len(lost),
            delay_p99_ms=None if back.is_empty() else float(back["delay_ns"].quantile(1 - LATE_SHARE) or 0) / 1e6,
            queued=queued,
            in_queue=_in_queues(collectors, end_ns),
            loss=min(1.0, excess or 1.0) if failed_by else 0.0,
            failed_by=failed_by,
        )

    def _lost(self, sent: pl.DataFrame) -> pl.DataFrame:
        """Return the traces that failed and, if all are expected back, those that are not by the load's end."""
        lost = failed(sent, self.keeps, self.sampling_percent)
        missing = sent.filter(pl.col("outcome") == "shutdown") if self.keeps == "all" else sent.clear()
        return pl.concat([lost, missing])


def recovered(probe: ShortTrial) -> bool:
    """Return whether nothing is left of an earlier overload, by a trial at a low rate after it."""
    return probe.failed_by is None and (probe.in_queue or 0) <= IDLE_REQUESTS


def _failed_by(
    sent: pl.DataFrame, lost: pl.DataFrame, back: pl.DataFrame, late: float, queued: float, dropped: float
) -> str | None:
    """Return what broke the objective; of several things, the one that is most certain."""
    if len(lost):
        return str(lost.sort("intended_ns")["outcome"][0])
    if dropped:
        return "dropped"
    if len(sent) and back.is_empty():
        return "none came back"
    if late > LATE_SHARE:
        return "delay"
    return "queue" if queued > QUEUED_SHARE else None


def _back(sent: pl.DataFrame) -> pl.DataFrame:
    """Return the traces that succeeded, with `delay_ns`: from when they were due."""
    delay = pl.coalesce("receive_end_after_ns", "send_end_after_ns").alias("delay_ns")
    return sent.filter(COMPLETE).with_columns(delay)


def _kept_by_delay(back: pl.DataFrame, start_ns: int, end_ns: int) -> float:
    """Return which share of the traces a queue kept, by how much later they came back at the end than at the start.

    If traces come faster than they are served, by a factor f, each waits for those before it: its delay grows by f - 1
    of the time that passes. What is served is then 1 / f of what comes.
    """
    part_ns = (end_ns - start_ns) / PARTS
    part = ((pl.col("intended_ns") - start_ns) / part_ns).floor().clip(0, PARTS - 1).cast(pl.Int8).alias("part")
    medians = dict(back.group_by(part).agg(pl.col("delay_ns").median()).iter_rows())
    if 0 not in medians or PARTS - 1 not in medians:
        return 0.0
    growth = (medians[PARTS - 1] - medians[0]) / ((PARTS - 1) * part_ns)
    return float(growth / (1 + growth)) if growth > 0 else 0.0


def _kept_by_queues(collectors: Collectors, start_ns: int, end_ns: int, requests_per_s: float) -> float:
    """Return which share of the requests is still in exporters' queues, at the last reading of the trial.

    Where traces do not come back, nothing else shows that they wait. 0 without a reading in the trial.
    """
    grown, sent = 0.0, 0.0
    for queue in _series(collectors, "queue_size"):
        inside = (queue.t_ns > start_ns) & (queue.t_ns <= end_ns)
        if inside.any():
            grown += float(queue.values[inside][-1]) - _at(queue, start_ns)
            sent = max(sent, requests_per_s * float(queue.t_ns[inside][-1] - start_ns) / SECOND_NS)
    return min(1.0, grown / sent) if grown > IDLE_REQUESTS else 0.0


def _in_queues(collectors: Collectors, end_ns: int) -> float | None:
    """Return how many requests the queues held at the last reading before the end."""
    found = _series(collectors, "queue_size")
    return sum(_at(queue, end_ns) for queue in found) if found else None


def _dropped(collectors: Collectors, start_ns: int) -> float:
    """Return the spans that Collectors dropped from the start until now."""
    return sum(float(one.values[-1]) - _at(one, start_ns) for one in _series(collectors, "dropped_spans"))


def _series(collectors: Collectors, name: str) -> list[Series]:
    return [fields[name] for fields in collectors.values() if name in fields]


def _at(series: Series, t_ns: int) -> float:
    """Return the last reading until a time; 0 before the first."""
    place = int(np.searchsorted(series.t_ns, t_ns, side="right"))
    return float(series.values[place - 1]) if place else 0.0
