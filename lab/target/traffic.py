"""What the generator of traces sends to a level of a target (loadgen/traces)."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from lab.spec import Experiment, Problem, Shape

PROTOCOL: Final = "otlp"

Number = Annotated[int, Field(ge=0, le=3_600_000)]
Bounds = Annotated[tuple[Number, Number], Field(strict=False)]
Probability = Annotated[float, Field(ge=0, le=1)]

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
    transport: Literal["grpc", "http", "zipkin"] = Field(
        default="grpc", description="OTLP over gRPC or over HTTP, or Zipkin's v2 JSON over HTTP"
    )
    compression: Literal["none", "gzip"] = Field(default="none", description="of requests")
    send_timeout_ms: int = Field(default=5000, ge=1, le=3_600_000, description="of a request")
    receive_timeout_ms: int = Field(default=10_000, ge=1, le=3_600_000, description="from the answer to the last span")
    wait_out_durations: bool = Field(default=True, description="workers wait as long as a trace lasts before they send")
    traces_per_s: float | None = Field(default=None, gt=0, le=1_000_000, description="in place of the schedule's rate")
    connections: int | None = Field(
        default=None,
        ge=1,
        le=50_000,
        description="in place of the schedule's; workers share so many, and have one each if left out",
    )

    def plan(self) -> Mapping[str, Any]:
        """Return the plan as the generator reads it."""
        drawn = {name: dict(zip(("min", "max"), getattr(self, name), strict=True)) for name in DRAWN}
        return {**drawn, **{name: getattr(self, name) for name in PROBABILITIES}}

    def request(self) -> Mapping[str, Any]:
        """Return what each load says of its traces, by the generator's names: the plan, and all other fields."""
        return {**self.model_dump(include=Traffic.model_fields.keys() - {*DRAWN, *PROBABILITIES}), "plan": self.plan()}

    def wrong_bounds(self) -> Iterator[Problem]:
        """Yield bounds that make no sense."""
        for name in DRAWN:
            least, most = getattr(self, name)
            if least > most:
                yield Problem((name,), f"the lower bound, {least}, is above the upper one, {most}")
            elif most > MOST.get(name, most):
                yield Problem((name,), f"the upper bound, {most}, is above {MOST[name]}")
        if self.spans[1] == 0:
            yield Problem(("spans",), "no trace would have a span; expected an upper bound of 1 or more")


def problems(experiment: Experiment, who: str) -> Iterator[Problem]:
    """Yield what is wrong with the load of a target that takes spans, called `who`, and with its levels' `Traffic`."""
    load = experiment.load
    for level in experiment.levels():
        for problem in level.settings.wrong_bounds():
            yield Problem(("factors",), f"level {level.name}: {'.'.join(map(str, problem.path))}: {problem.text}")
        ignored = sorted(Traffic.model_fields.keys() & level.settings.model_fields_set)
        # Only the generator of traces reads them.
        if ignored and load.protocol == PROTOCOL and not load.can("receives-traces"):
            yield Problem(
                ("factors",), f"level {level.name}: {', '.join(ignored)}: {load.generator} cannot do that; leave it out"
            )
    if load.protocol not in (None, PROTOCOL):
        yield Problem(("load", "generator"), f"{load.generator} sends {load.protocol}, {who} takes {PROTOCOL}")
    if experiment.protocol.warm_up_requests is not None:
        yield Problem(("protocol", "warm_up_requests"), f"{who}'s load has no requests; expected warm_up_s")
