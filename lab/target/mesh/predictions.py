"""What a topology predicts of a trial. Pure."""

import statistics
from collections.abc import Sequence

from lab.target.mesh.spantree import Span, difference
from lab.target.mesh.topology import Topology
from lab.target.mesh.variants import Traces


def error_fraction(topology: Topology, requested: float | None) -> float:
    """Return the share of requests that drawn errors make fail without retries.

    `requested`: the error probability that each request carries; None: the topology's own.
    """
    return statistics.mean(topology.expected_error_fraction(route, requested) for route in topology.routes())


def trace_difference(topology: Topology, traces: Traces, spans: Sequence[Span]) -> str | None:
    """Return None if the trace is what the topology predicts for one of its routes, else how it differs."""
    if not spans:
        # With sampling there may be no trace yet among the few requests of a short trial.
        return "the backend has no trace" if traces == "all" else None
    if traces == "none":
        return "no request was to be traced"
    differences = [difference(topology.expected_tree(route), spans) for route in topology.routes()]
    return None if None in differences else differences[0]
