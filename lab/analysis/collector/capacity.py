"""The capacity model: CPU and memory of a Collector's pipeline from what it receives, fitted on a grid of trials.

No published benchmark found normalises span size, pipeline and unit (the figures of others for 10,000 spans
per second range from 0.065 to 2.4 cores). A model is of Collectors with one CPU each, and a larger load needs more of
them. CPU per span is a sum: a part per span, per byte, per attribute, and a trace's part divided among its spans. A
trace's part is larger if the Collector is idle when the trace arrives: then it has to be woken. So a busy Collector
needs less CPU per span (in a first ramp 28 µs, and 77 µs at a tenth of the rate). And each second has a part, for what
a Collector does at any load; it is divided among the second's spans. Memory is a base and:

- A pipeline that passes traces on: a part for bytes per second, and the heap. Go collects garbage when the heap has a
  size that follows from what is live, as the read buffers of the connections are. Until then the heap fills with what
  the Collector's work leaves: in a trial of the grid, which ends seconds after the start, by 1 - exp(-cores /
  `filling_cores`). A Collector that has run for minutes has a full heap, and that is what `size` predicts.
- Tail sampling holds every trace for the decision wait, and until the next decision (`TICK_S`), but at most
  `num_traces` of them (`tailsamplingprocessor` of opentelemetry-collector-contrib): a part per trace held, and per
  span, attribute and byte of them.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from lab.analysis.collector.fit import Fit, Predicted, fit, predict
from lab.analysis.stats import FloatArray
from lab.errors import UserError
from lab.record import MIB, VERSION_HINT, read_json, write_json_atomic
from lab.spec import SpecError
from lab.spec.model import Shape, validate

FORMAT, VERSION = "tollbooth.capacity-model", 1
CPU_TERMS = ("span", "span byte", "attribute", "trace per span", "second per span", "wake-up per span")
PASSING_TERMS = ("base", "byte per second", "filled heap")
HOLDING_TERMS = ("base", "trace held", "span held", "attribute held", "byte held")
FILLING_CORES = tuple(np.geomspace(0.02, 0.5, 15).tolist())
LEAST_HELD_BACK = 12
# A Collector's CPU: what is left is for other days, and no more was required of the lab's own instruments.
MOST_BUSY = 0.7
TICK_S = 1.0
"""Between decisions of tail sampling. Traces are collected for so long before their wait begins (its `idbatcher`)."""


@dataclass(frozen=True)
class Load:
    """What a pipeline receives. `decision_wait_s`: 0 for one that passes traces on at once."""

    spans_per_s: float
    span_bytes: float
    attributes: float
    spans_per_trace: float
    decision_wait_s: float = 0.0

    @property
    def traces_per_s(self) -> float:
        """What it follows from may be on the grid, and this not: many spans in small traces."""
        return self.spans_per_s / self.spans_per_trace


VARIABLES = (*Load.__dataclass_fields__, "traces_per_s")


@dataclass(frozen=True)
class Trial:
    """A point of the grid and what was measured there: CPU per span and the Collector's memory."""

    load: Load
    cpu_us_per_span: float
    memory_mib: float

    @property
    def idle(self) -> float:
        """The share of time in which the Collector's CPU was idle."""
        return max(0.0, 1 - self.load.spans_per_s * self.cpu_us_per_span / 1e6)


class Bounds(Shape):
    """The least and the largest value of a variable on the grid."""

    low: float
    high: float


class Pipeline(Shape):
    """A fitted pipeline. `num_traces`: how many traces it holds at most; None: it passes them on at once.

    `filling_cores`: with so many cores in use, a trial of the grid fills 63 % of the heap; None: it holds traces.
    """

    cpu_us_per_span: Fit
    memory_mib: Fit
    bounds: Mapping[str, Bounds]
    num_traces: int | None = None
    filling_cores: float | None = None


class CapacityModel(Shape):
    """`capacity-model.json`. `machine`: facts of the machine that was measured, on which all costs depend.

    `runs`: what it was fitted to.
    """

    format: Literal["tollbooth.capacity-model"] = "tollbooth.capacity-model"
    version: Literal[1] = 1
    machine: Mapping[str, str | int | float]
    runs: Sequence[str]
    pipelines: Mapping[str, Pipeline]


@dataclass(frozen=True)
class Size:
    """How many Collectors a load needs, and what each of them uses, with prediction intervals.

    `extrapolated`: the variables of a Collector's load that are outside the grid. `decides_early`: more traces arrive
    in the decision wait than the pipeline holds, so it decides about some before they are complete.
    """

    collectors: int
    cores: Predicted
    memory_mib: Predicted
    extrapolated: tuple[str, ...]
    decides_early: bool


@dataclass(frozen=True)
class Check:
    """Relative errors at points that the fit did not see."""

    points: int
    median: float
    worst: float


def fit_pipeline(trials: Sequence[Trial], num_traces: int | None = None) -> Pipeline:
    """Fit a pipeline to the trials of its grid; raises `ValueError` if they do not determine all terms."""
    loads, cpu = [trial.load for trial in trials], _fit_cpu(trials)
    memory, filling_cores = _fit_memory(trials, cpu, num_traces)
    return Pipeline(
        cpu_us_per_span=cpu,
        memory_mib=memory,
        bounds={
            name: Bounds(low=min(values), high=max(values))
            for name in VARIABLES
            for values in [[float(getattr(load, name)) for load in loads]]
        },
        num_traces=num_traces,
        filling_cores=filling_cores if num_traces is None else None,
    )


def size(model: CapacityModel, load: Load, pipeline: str) -> Size:
    """Say how many Collectors share a load, so that none is busier than `MOST_BUSY`, and what each of them needs.

    Memory is that of Collectors that have run for minutes. There are at most as many as spans per second. Raises
    `KeyError` for a pipeline that the model does not have, and `ValueError` if its terms are not today's.
    """
    fitted = model.pipelines[pipeline]
    if tuple(fitted.cpu_us_per_span.terms) != CPU_TERMS or tuple(fitted.memory_mib.terms) not in (
        PASSING_TERMS,
        HOLDING_TERMS,
    ):
        raise ValueError(f"the model has other terms than {', '.join(CPU_TERMS)}, and those of memory")

    def share(collectors: int) -> Load:
        return replace(load, spans_per_s=load.spans_per_s / collectors)

    # A Collector with less to do is not busier.
    most = math.ceil(load.spans_per_s)
    collectors = 1 + bisect_left(
        range(1, most), True, key=lambda count: _cores(fitted.cpu_us_per_span, share(count)).value <= MOST_BUSY
    )
    each = share(collectors)
    outside = (
        name for name, bounds in fitted.bounds.items() if not bounds.low <= float(getattr(each, name)) <= bounds.high
    )
    return Size(
        collectors=collectors,
        cores=_cores(fitted.cpu_us_per_span, each),
        memory_mib=predict(fitted.memory_mib, _row_of_memory(each, fitted.num_traces, math.inf)),
        extrapolated=tuple(outside),
        decides_early=fitted.num_traces is not None and _traces_held(each) > fitted.num_traces,
    )


def held_back(
    trials: Sequence[Trial], seed: int, num_traces: int | None = None, points: int = LEAST_HELD_BACK
) -> dict[str, Check]:
    """Fit without some points of the grid, drawn with the seed, and predict them: `cpu` and `memory`.

    All trials of a point are held back together. Raises `ValueError` for fewer than 12 points, and if the others do
    not determine the model.
    """
    grid = list(dict.fromkeys(trial.load for trial in trials))
    if not LEAST_HELD_BACK <= points < len(grid):
        raise ValueError(f"at least {LEAST_HELD_BACK} points are held back, of more than that: {points} of {len(grid)}")
    chosen = {grid[i] for i in np.random.default_rng(seed).choice(len(grid), points, replace=False)}
    fitted = fit_pipeline([trial for trial in trials if trial.load not in chosen], num_traces)
    unseen = [trial for trial in trials if trial.load in chosen]
    cores = [_cores(fitted.cpu_us_per_span, trial.load).value for trial in unseen]
    memory = [
        predict(
            fitted.memory_mib, _row_of_memory(trial.load, num_traces, used / (fitted.filling_cores or math.inf))
        ).value
        for trial, used in zip(unseen, cores, strict=True)
    ]
    errors = {
        "cpu": [
            abs(used / (trial.load.spans_per_s / 1e6 * trial.cpu_us_per_span) - 1)
            for used, trial in zip(cores, unseen, strict=True)
        ],
        "memory": [abs(mib / trial.memory_mib - 1) for mib, trial in zip(memory, unseen, strict=True)],
    }
    return {name: Check(points, float(np.median(each)), max(each)) for name, each in errors.items()}


def write_model(path: Path, model: CapacityModel) -> None:
    """Write a model as a versioned JSON file."""
    write_json_atomic(path, model.model_dump(mode="json"))


def read_model(path: Path) -> CapacityModel:
    """Read a model; raises `UserError` for another version, and for unknown or wrong fields."""
    try:
        return validate(CapacityModel, read_json(path, FORMAT, VERSION))
    except SpecError as error:
        raise UserError(f"{path}: {error}", VERSION_HINT) from error


def _fit_cpu(trials: Sequence[Trial]) -> Fit:
    """Fit CPU per span, first to the idle time that was measured, then to what follows from that fit.

    The measured one has the error of the trial's own CPU in it.
    """
    loads, cpu = [trial.load for trial in trials], [trial.cpu_us_per_span for trial in trials]
    first = fit(CPU_TERMS, _rows_of_cpu(loads, [trial.idle for trial in trials]), cpu)
    return fit(CPU_TERMS, _rows_of_cpu(loads, [_idle(first, load) for load in loads]), cpu)


def _fit_memory(trials: Sequence[Trial], cpu: Fit, num_traces: int | None) -> tuple[Fit, float]:
    """Fit memory, and by how many cores the heap fills: those with the smallest errors."""
    known = [(trial.load, _cores(cpu, trial.load).value) for trial in trials]
    terms, tried = (PASSING_TERMS, FILLING_CORES) if num_traces is None else (HOLDING_TERMS, (math.inf,))
    fits = [
        (fit(terms, [_row_of_memory(load, num_traces, cores / at) for load, cores in known], memory), at)
        for memory in [[trial.memory_mib for trial in trials]]
        for at in tried
    ]
    return min(fits, key=lambda one: one[0].residual_sd)


def _cores(fitted: Fit, load: Load) -> Predicted:
    (row,) = _rows_of_cpu([load], [_idle(fitted, load)])
    return predict(fitted, row).times(load.spans_per_s / 1e6)


def _idle(fitted: Fit, load: Load) -> float:
    """Return the share of time in which the CPU is idle. Less idle means fewer wake-ups, and so less work."""
    (row,) = _rows_of_cpu([load], [1.0])
    cores_if_always_woken = float(row @ fitted.coefficients) * load.spans_per_s / 1e6
    wake_up_cores = float(row[-1] * fitted.coefficients[-1]) * load.spans_per_s / 1e6
    # busy = cores_if_always_woken - wake_up_cores * busy
    return max(0.0, 1 - cores_if_always_woken / (1 + wake_up_cores))


def _rows_of_cpu(loads: Sequence[Load], idle: Sequence[float]) -> FloatArray:
    return np.array(
        [
            (1.0, load.span_bytes, load.attributes, per_span, 1 / load.spans_per_s, share * per_span)
            for load, share in zip(loads, idle, strict=True)
            for per_span in [1 / load.spans_per_trace]
        ]
    )


def _row_of_memory(load: Load, num_traces: int | None, filling: float) -> tuple[float, ...]:
    """Return the factors of a pipeline's terms. `filling`: cores, as a multiple of `filling_cores`; inf: for long."""
    if num_traces is None:
        return 1.0, load.spans_per_s * load.span_bytes / MIB, -math.expm1(-filling)
    traces = min(_traces_held(load), num_traces)
    spans = traces * load.spans_per_trace
    return 1.0, traces / 1e3, spans / 1e3, spans * load.attributes / 1e6, spans * load.span_bytes / MIB


def _traces_held(load: Load) -> float:
    """Return how many traces tail sampling would hold just before it decides, with no bound."""
    return load.traces_per_s * (load.decision_wait_s + TICK_S)
