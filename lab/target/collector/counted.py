"""What the generator, the Collectors and the sink counted in a trial. Pure.

Counts of a complete load come from last readings, rates and costs from what was counted in the window.
"""

from collections.abc import Mapping

from lab.record import LOCAL, Fields, TrialData
from lab.target.collector.declaration import COLLECTOR

# The pipelines that hold spans before they queue them: for a batch, a decision, or the rest of the trace.
HOLDING = frozenset({"batched", "discard", "edge-tail-sampling", "group-route", "recommended", "tail-sampling"})


def collectors(data: TrialData) -> Mapping[str, Fields]:
    """Return the counters of each Collector by its container's name."""
    found: Mapping[str, Fields] = data.streams.get("collectors", {}).get(LOCAL, {})
    return found


def first_stage(data: TrialData) -> list[str]:
    """Return the Collectors that the generator sends to."""
    names = list(collectors(data))
    return [name for name in names if name != COLLECTOR] or names


def total(data: TrialData, counter: str, names: list[str]) -> float:
    """Return the last readings of a counter, added up over Collectors; raises `KeyError` if it was never read."""
    return float(sum(collectors(data)[name][counter].values[-1] for name in names))


def spans_accepted(data: TrialData) -> float:
    """Return the spans that the first stage accepted."""
    return total(data, "accepted_spans", first_stage(data))


def spans_refused(data: TrialData) -> float:
    """Return the spans that the first stage rejected."""
    return total(data, "refused_spans", first_stage(data))


def spans_dropped(data: TrialData) -> float:
    """Return the spans that any Collector accepted and then failed to pass on.

    A Collector's `dropped_spans` also has what found its queue full. Only a pipeline that holds spans has accepted
    these before. Any other rejects them, and counts them among `refused_spans`, too.
    """
    settings = data.trial.settings
    stages = {name: settings.get("pipeline" if name == COLLECTOR else "edge_pipeline") for name in collectors(data)}
    return sum(
        total(data, "dropped_spans" if pipeline in HOLDING else "send_failed_spans", [name])
        for name, pipeline in stages.items()
    )


def spans_delivered(data: TrialData) -> float | None:
    """Return the spans that arrived at the sink behind the last Collector; None if they go back to the generator."""
    return data.results.values.get("spans_delivered")


def accepted_per_s(data: TrialData) -> float:
    """Return the rate at which the first stage accepted spans in the window."""
    window = data.trial.window_start_ns, data.trial.window_end_ns
    return (
        sum(collectors(data)[name]["accepted_spans"].increase(*window) for name in first_stage(data))
        / data.trial.window_s
    )
