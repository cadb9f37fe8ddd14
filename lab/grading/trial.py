"""One trial of a student's run: what its records say, and where they contradict each other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lab.analysis.analyse import of_trial
from lab.analysis.checks import HOST_BUSY, observed_throughout, reasons
from lab.analysis.metrics.speed import Pieces
from lab.analysis.metrics.window import known
from lab.contract import Judgement
from lab.engine import SPINNER
from lab.record import Fields, IntArray, NotDerivableError, Series, TrialData, TrialSummary, ended_on_purpose

CPU = "cpu_usage_ns"
SPLIT = ("cpu_user_ns", "cpu_system_ns")
COUNTERS = (CPU, *SPLIT, "rx_bytes", "rx_packets", "tx_bytes", "tx_packets")
"""Of a container and its interfaces. They only grow."""
HOST_TIME = (*HOST_BUSY, "cpu_idle_ns", "cpu_iowait_ns", "cpu_steal_ns")
"""Together, all time of all CPUs."""
SPLIT_SHARE, SPLIT_NS = 0.25, 1e8
"""How far user and system time may be from usage: kernels count the two by ticks, and usage exactly."""
HOST_SHARE = 0.05
"""How far the host's counters may be from the time that passed."""
UNDER_WAY = 50
"""Requests that made spans, and were not finished when the load ended."""
LEAST_NS = 1_000_000
"""Smaller steps of a CPU counter are too much alike to distinguish two trials."""
MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class StudentTrial:
    """A trial in the folder `name`. `thinned`: its counters have only the samples that the analysis needs."""

    name: str
    data: TrialData
    judgement: Judgement
    thinned: bool = False

    @cached_property
    def estimated(self) -> tuple[TrialSummary, Pieces | None]:
        """What the summary is computed from."""
        return of_trial(self.name, self.data, self.judgement)

    @cached_property
    def reasons(self) -> list[str]:
        """Why the records reject the trial, by the same checks as when it was run."""
        stages = self.judgement.checks
        if self.thinned:  # its gaps say nothing
            stages = [[check for check in stage if check is not observed_throughout] for stage in stages]
        try:
            return reasons(self.data, stages)
        except (NotDerivableError, KeyError) as missing:
            return [f"its records are incomplete ({missing})"]

    @cached_property
    def contradictions(self) -> list[str]:
        """Where the records of a valid trial contradict each other."""
        if not self.data.trial.valid:
            return []
        try:
            return [wrong for check in (_grow, _add_up, _in_order, _spans_made) for wrong in check(self.data)]
        except (NotDerivableError, KeyError) as missing:
            return [f"its records are incomplete ({missing})"]

    @cached_property
    def cores(self) -> Mapping[str, float]:
        """What each container used in the window, in cores."""
        trial = self.data.trial
        window = trial.window_start_ns, trial.window_end_ns
        containers = self.data.counters.containers
        used = {name: known(fields[CPU].increase, *window) or 0.0 for name, fields in containers.items()}
        return {name: ns / (window[1] - window[0]) for name, ns in used.items()}

    @property
    def cores_without_spinner(self) -> float:
        """What all containers used but the spinner, in cores."""
        return sum(cores for name, cores in self.cores.items() if name != SPINNER)

    @cached_property
    def prints(self) -> frozenset[int]:
        """What no other trial has: pairs of latencies, and of steps of CPU counters, that follow each other.

        They do not depend on when the trial was run, so that a copy with other times has the same ones.
        """
        steps: list[IntArray] = []
        if self.data.has("requests"):
            steps.append(self.data.requests.end_ns - self.data.requests.start_ns)
        # Trials that share a start of the containers share the file of its counters, but no time.
        for counters in self.data.counters_by_machine().values() if self.data.trial.window else ():
            of_window = (_in_window(self.data, fields[CPU]) for fields in counters.containers.values() if CPU in fields)
            steps.extend(step[step >= LEAST_NS] for step in of_window)
        return frozenset(pair for one in steps for pair in _pairs(one))


def _in_window(data: TrialData, counter: Series) -> IntArray:
    """Return the steps of a counter in a trial's window."""
    inside = (counter.t_ns >= data.trial.window_start_ns) & (counter.t_ns <= data.trial.window_end_ns)
    return np.diff(counter.values[inside])


def _pairs(steps: IntArray) -> list[int]:
    numbers = steps.astype(np.uint64)
    return ((numbers[:-1] * MIX) ^ numbers[1:]).tolist()  # type: ignore[no-any-return]


def _series(data: TrialData) -> Iterator[tuple[str, Fields, tuple[str, ...]]]:
    """Yield what is counted: its name, its counters, and which of them only grow."""
    meant = ended_on_purpose(data.injections)
    for counters in data.counters_by_machine().values():
        yield "the host", counters.host, HOST_BUSY
        for name, fields in counters.containers.items():
            if name not in meant:
                yield name, fields, COUNTERS
        for one in counters.interfaces:
            if one.container not in meant:
                yield f"{one.container}'s {one.name}", one.counters, COUNTERS


def _grow(data: TrialData) -> Iterator[str]:
    """Counters and their clock never go back."""
    for name, fields, counters in _series(data):
        for counter in counters:
            if counter not in fields:
                continue
            series = fields[counter]
            if np.any(np.diff(series.t_ns) <= 0) or np.any(np.diff(series.values) < 0):
                yield f"{counter} of {name} goes back"


def _add_up(data: TrialData) -> Iterator[str]:
    """The kernel counts CPU time more than once: in all, as user's and system's, and for the host."""
    window = data.trial.window_start_ns, data.trial.window_end_ns
    for counters in data.counters_by_machine().values():
        for name, fields in counters.containers.items():
            if name in ended_on_purpose(data.injections) or not all(field in fields for field in SPLIT):
                continue
            usage, user, system = (fields[field].increase(*window) for field in (CPU, *SPLIT))
            if abs(user + system - usage) > SPLIT_SHARE * usage + SPLIT_NS:
                yield f"the CPU time of {name} is not that of user and system"
        if not all(field in counters.host for field in ("cpus", *HOST_TIME)):
            continue
        whole_ns = int(counters.host["cpus"].values[-1]) * (window[1] - window[0])
        counted_ns = sum(counters.host[field].increase(*window) for field in HOST_TIME)
        if abs(counted_ns / whole_ns - 1) > HOST_SHARE:
            yield "the host's CPU time is not the time that passed"


def _in_order(data: TrialData) -> Iterator[str]:
    """Requests end after they start."""
    if data.has("requests") and np.any(data.requests.end_ns < data.requests.start_ns):
        yield "requests end before they start"


def _spans_made(data: TrialData) -> Iterator[str]:
    """A backend cannot accept more spans than requests made, without those that it counted as duplicates."""
    trial = data.trial
    expected, spans = trial.expected_spans_per_request, trial.backend.distinct_spans if trial.backend else None
    if not spans or not expected or not data.has("requests"):
        return
    if trial.sidecars == {} and spans > (len(data.requests) + UNDER_WAY) * expected:
        yield f"the backend accepted {spans} spans, more than {len(data.requests)} requests make"
