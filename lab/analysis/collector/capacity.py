"""The capacity model: CPU and memory of a Collector's pipeline from what it receives, fitted on a grid of trials.

No published benchmark found normalises span size, pipeline and unit (issue 21; the figures of others for 10,000 spans
per second range from 0.065 to 2.4 cores). CPU per span is a sum: a part per span, per byte, per attribute, and a
trace's part divided among its spans. Memory is a base and what the pipeline holds:

- A pipeline that passes traces on holds what arrives in some time: bytes, attributes and traces per second.
- Tail sampling holds every trace for the decision wait, but at most `num_traces` of them (`tailsamplingprocessor` of
  opentelemetry-collector-contrib): a part per trace held, and one per byte of its spans.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lab.analysis.collector.fit import Fit, Predicted, fit, predict
from lab.errors import UserError
from lab.record import VERSION_HINT, read_json, write_json_atomic
from lab.spec.model import Shape, validate
from lab.spec.problems import SpecError

FORMAT, VERSION = "tollbooth.capacity-model", 1
CPU_TERMS = ("span", "span byte", "attribute", "trace per span")
PASSING_TERMS = ("base", "byte per second", "attribute per second", "trace per second")
HOLDING_TERMS = ("base", "trace held", "byte held")
LEAST_HELD_BACK = 12
MIB = 2**20


@dataclass(frozen=True)
class Load:
    """What a pipeline receives. `decision_wait_s`: 0 for one that passes traces on at once."""

    spans_per_s: float
    span_bytes: float
    attributes: float
    spans_per_trace: float
    decision_wait_s: float = 0.0


@dataclass(frozen=True)
class Trial:
    """A point of the grid and what was measured there: CPU per span and the Collector's memory."""

    load: Load
    cpu_us_per_span: float
    memory_mib: float


class Bounds(Shape):
    """The least and the largest value of a variable on the grid."""

    low: float
    high: float


class Pipeline(Shape):
    """A fitted pipeline. `num_traces`: how many traces it holds at most; None: it passes them on at once."""

    cpu_us_per_span: Fit
    memory_mib: Fit
    bounds: Mapping[str, Bounds]
    num_traces: int | None = None


class CapacityModel(Shape):
    """`capacity-model.json`. `machine`: facts of the machine that was measured, on which all costs depend."""

    format: Literal["tollbooth.capacity-model"] = "tollbooth.capacity-model"
    version: Literal[1] = 1
    machine: Mapping[str, str | int | float]
    pipelines: Mapping[str, Pipeline]


@dataclass(frozen=True)
class Size:
    """What a load needs, with prediction intervals.

    `extrapolated`: the variables that are outside the grid. `decides_early`: more traces arrive in the decision wait
    than the pipeline holds, so it decides about some before they are complete.
    """

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
    memory_terms = PASSING_TERMS if num_traces is None else HOLDING_TERMS
    loads = [trial.load for trial in trials]
    return Pipeline(
        cpu_us_per_span=fit(CPU_TERMS, _rows_of_cpu(loads), [trial.cpu_us_per_span for trial in trials]),
        memory_mib=fit(memory_terms, _rows_of_memory(loads, num_traces), [trial.memory_mib for trial in trials]),
        bounds={
            name: Bounds(low=min(values), high=max(values))
            for name in Load.__dataclass_fields__
            for values in [[float(getattr(load, name)) for load in loads]]
        },
        num_traces=num_traces,
    )


def size(
    model: CapacityModel,
    spans_per_s: float,
    span_bytes: float,
    spans_per_trace: float,
    pipeline: str,
    decision_wait_s: float = 0.0,
    attributes: float = 0.0,
) -> Size:
    """Say what one Collector needs for a load; raises `KeyError` for a pipeline that the model does not have."""
    fitted = model.pipelines[pipeline]
    load = Load(spans_per_s, span_bytes, attributes, spans_per_trace, decision_wait_s)
    cpu, memory = _predicted(fitted, load)
    outside = (
        name for name, bounds in fitted.bounds.items() if not bounds.low <= float(getattr(load, name)) <= bounds.high
    )
    held = spans_per_s / spans_per_trace * decision_wait_s
    return Size(
        cores=cpu.times(spans_per_s / 1e6),
        memory_mib=memory,
        extrapolated=tuple(outside),
        decides_early=fitted.num_traces is not None and held > fitted.num_traces,
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
    predicted = [_predicted(fitted, trial.load) for trial in unseen]
    errors = {
        "cpu": [abs(cpu.value / t.cpu_us_per_span - 1) for (cpu, _), t in zip(predicted, unseen, strict=True)],
        "memory": [abs(memory.value / t.memory_mib - 1) for (_, memory), t in zip(predicted, unseen, strict=True)],
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


def _predicted(fitted: Pipeline, load: Load) -> tuple[Predicted, Predicted]:
    """Return CPU per span in µs, and memory in MiB."""
    (of_cpu,), (of_memory,) = _rows_of_cpu([load]), _rows_of_memory([load], fitted.num_traces)
    return predict(fitted.cpu_us_per_span, of_cpu), predict(fitted.memory_mib, of_memory)


def _rows_of_cpu(loads: Sequence[Load]) -> NDArray[np.float64]:
    return np.array([(1.0, load.span_bytes, load.attributes, 1 / load.spans_per_trace) for load in loads])


def _rows_of_memory(loads: Sequence[Load], num_traces: int | None) -> NDArray[np.float64]:
    if num_traces is None:
        return np.array(
            [
                (1.0, rate * load.span_bytes / MIB, rate * load.attributes / 1e6, rate / load.spans_per_trace / 1e6)
                for load in loads
                for rate in [load.spans_per_s]
            ]
        )
    held = [min(load.spans_per_s / load.spans_per_trace * load.decision_wait_s, num_traces) for load in loads]
    return np.array(
        [
            (1.0, traces / 1e3, traces * load.spans_per_trace * load.span_bytes / MIB)
            for load, traces in zip(loads, held, strict=True)
        ]
    )
