"""How several endpoints shared a trial's spans over time, by what each counted of itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.analysis.metrics.endpoints import ACCEPTED, accepting
from lab.analysis.stats import FloatArray
from lab.record import Series, TrialData

STEP_S = 2.0
"""A tracer's request ends after a second, and its spans are accepted all at once."""


@dataclass(frozen=True)
class EndpointCourse:
    """A trial over time, step by step: each endpoint's share of the accepted spans, in percent.

    `time_s`: the middles of the steps in which spans were accepted, since the load began. `faults_s`: when each fault
    began and ended.
    """

    time_s: FloatArray
    shares: Mapping[str, FloatArray]
    faults_s: Sequence[float]


def endpoint_course(data: TrialData) -> EndpointCourse | None:
    """Take from a trial's records how its endpoints shared the spans; None if it does not have several."""
    endpoints = accepting(data)
    if not endpoints:
        return None
    start_ns = data.trial.load_start_ns
    edges_s = np.arange(0.0, (data.trial.window_end_ns - start_ns) / 1e9 + STEP_S / 2, STEP_S)
    accepted = {name: _steps(fields[ACCEPTED], start_ns, edges_s) for name, fields in endpoints.items()}
    total = np.sum(list(accepted.values()), axis=0)
    known = total > 0
    return EndpointCourse(
        time_s=((edges_s[1:] + edges_s[:-1]) / 2)[known],
        shares={name: 100 * steps[known] / total[known] for name, steps in accepted.items()},
        faults_s=[
            (edge.begin_ns - start_ns) / 1e9
            for injection in data.injections
            for edge in (injection.injected, injection.lifted)
            if edge is not None
        ],
    )


def _steps(counter: Series, start_ns: int, edges_s: FloatArray) -> FloatArray:
    """Return how much a counter that may begin anew grew in each step, by the last reading before each of its ends.

    An endpoint that does not answer has no spans until its next answer: between them would be spans that nobody sent.
    """
    whole = counter.continued()
    read = np.searchsorted((whole.t_ns - start_ns) / 1e9, edges_s, side="right") - 1
    return np.diff(whole.values[np.maximum(read, 0)].astype(np.float64))
