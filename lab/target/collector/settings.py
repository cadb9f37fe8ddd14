"""What an experiment may set of a Collector, and of each of its levels."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from lab.analysis.collector.outcomes import Keeps
from lab.spec import FileName, Level, LevelSettings, Problem, Shape, TargetSettings

Number = Annotated[int, Field(ge=0, le=3_600_000)]
Bounds = Annotated[tuple[Number, Number], Field(strict=False)]
Probability = Annotated[float, Field(ge=0, le=1)]
Release = Literal["current", "earlier"]

DRAWN = ("spans", "span_duration_ms", "attributes", "attribute_bytes", "clients")
PROBABILITIES = ("sibling_probability", "incomplete_probability", "risky_probability", "error_probability")
MOST = {"spans": 10_000, "attributes": 1000, "attribute_bytes": 4096, "clients": 100}


class Traffic(Shape):
    """What the generator of traces sends: each trace draws a number between each pair of bounds, evenly."""

    spans: Bounds = Field(default=(0, 10), description="of a trace; a trace of 0 spans is not sent")
    span_duration_ms: Bounds = Field(default=(0, 100), description="what each span of a trace works by itself")
    attributes: Bounds = Field(default=(0, 0), description="extra attributes of each span")
    attribute_bytes: Bounds = Field(default=(16, 16), description="length of an extra attribute's value")
    clients: Bounds = Field(default=(1, 1), description="from whom the spans of a trace are, each with its own request")
    sibling_probability: Probability = Field(default=0, description="that a span is a sibling of the one before it")
    incomplete_probability: Probability = Field(default=0, description="that one span of a trace is never sent")
    risky_probability: Probability = Field(default=0, description="that one span has the attribute `risky`")
    error_probability: Probability = Field(default=0, description="that one span has the status error")
    transport: Literal["grpc", "http"] = Field(default="grpc", description="OTLP over gRPC or over HTTP")
    compression: Literal["none", "gzip"] = Field(default="none", description="of requests")
    send_timeout_ms: int = Field(default=5000, ge=1, le=3_600_000, description="of a request")
    receive_timeout_ms: int = Field(default=10_000, ge=1, le=3_600_000, description="from the answer to the last span")
    wait_out_durations: bool = Field(default=True, description="workers wait as long as a trace lasts before they send")
    traces_per_s: float | None = Field(default=None, gt=0, le=1_000_000, description="in place of the schedule's rate")
    connections: int | None = Field(default=None, ge=1, le=50_000, description="in place of the schedule's connections")

    def plan(self) -> Mapping[str, Any]:
        """Return the plan as the generator reads it."""
        drawn = {name: dict(zip(("min", "max"), getattr(self, name), strict=True)) for name in DRAWN}
        return {**drawn, **{name: getattr(self, name) for name in PROBABILITIES}}

    def request(self) -> Mapping[str, Any]:
        """Return what each load says of its traces, by the generator's names: the plan, and all other fields."""
        others = Traffic.model_fields.keys() - {*DRAWN, *PROBABILITIES}
        return {**self.model_dump(include=others), "plan": self.plan()}

    def wrong_bounds(self) -> Iterator[Problem]:
        """Yield bounds that make no sense."""
        for name in DRAWN:
            least, most = getattr(self, name)
            if least > most:
                yield Problem((name,), f"the lower bound, {least}, is above the upper one, {most}")
            elif most > MOST.get(name, most):
                yield Problem((name,), f"the upper bound, {most}, is above {MOST[name]}")
        if self.spans[1] == 0:
            yield Problem(("spans",), "no trace would have a span; wanted an upper bound of 1 or more")


class CollectorSettings(TargetSettings):
    """An OpenTelemetry Collector."""

    kind: Literal["collector"]
    pipeline: FileName = Field(description="a file of collector/pipelines/")
    returns: bool = Field(default=False, description="spans go back to the generator; or else to the lab's sink")

    def level_defaults(self) -> Mapping[str, object]:
        """See `TargetSettings.level_defaults`."""
        return {"pipeline": self.pipeline, "returns": self.returns}


class CollectorLevelSettings(LevelSettings, Traffic):
    """What a level of a Collector may set. `environment` reaches the Collectors, e.g. `QUEUE_SIZE` of a pipeline."""

    pipeline: FileName | None = Field(default=None, description="a file of collector/pipelines/, if another")
    returns: bool | None = Field(default=None, description="whether spans go back to the generator, if another")
    keeps: Keeps = Field(
        default="all",
        description="which traces come back if nothing is lost: `sampled`: those that sampling_percent keeps, by their "
        "IDs; `some`: a rule drops others, such as tail sampling",
    )
    sampling_percent: float = Field(default=25, gt=0, le=100, description="of the pipelines that sample by trace ID")
    sink_spans_per_s: float | None = Field(
        default=None, gt=0, le=10_000_000, description="most that the sink accepts, one after the other; or else all"
    )
    release: Release = Field(default="current", description="of the Collector: COLLECTOR_VERSION, or the earlier one")
    memory_mib: int = Field(default=512, ge=32, le=65_536, description="the container's memory limit")
    cpus: float | None = Field(default=None, gt=0, le=1024, description="the container's CPU limit; none if left out")
    edges: int = Field(default=0, ge=0, le=4, description="Collectors of a first stage, which pass spans on")
    edge_pipeline: FileName = Field(default="edge", description="the pipeline of the first stage")

    @property
    def pipeline_name(self) -> str:
        """The pipeline's name, which the target's settings give every level."""
        assert self.pipeline is not None
        return self.pipeline


CollectorLevel = Level[CollectorLevelSettings]
