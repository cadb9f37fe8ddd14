"""OpenTelemetry's own generator of spans, at a rate, over OTLP. It records no requests, it only counts its traces."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

from typing_extensions import override

from lab.load.generator import Loaded, LoadGenerator, LoadPlan, Stage
from lab.load.schedule import SpanRate
from lab.record import SECOND_NS, Results, write_results
from lab.spec import Capability, EntryProtocol, Load

# The load continues this long after the window, so that the generator is still there in the sample after its end.
TAIL_S = 3.0
LOAD_MARGIN_S = 30.0
# compose.yaml makes it send each root span with one child.
SPANS_PER_TRACE = 2
# Each worker logs its count when it ends. Other lines follow it, such as those of the shutdown.
LAST_LINES = 1000
GENERATED = re.compile(r"traces generated\s+(\{.*\})")


class TelemetrygenLoad(Load):
    """Spans at a rate, over OTLP."""

    generator: Literal["telemetrygen"]
    schedule: SpanRate

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"warms-up"})
    protocol: ClassVar[EntryProtocol | None] = "otlp"


class Telemetrygen(LoadGenerator):
    """The `LoadGenerator` for spans at a rate. It runs once per start: warm-up, window and tail are one load."""

    service = "telemetrygen"
    model = TelemetrygenLoad

    @override
    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        schedule = _schedule(plan)
        return {
            "LOAD_TARGET": f"{plan.endpoint.host}:{plan.endpoint.port}",
            "LOAD_WORKERS": str(schedule.workers),
            "LOAD_SPANS_PER_WORKER_S": f"{schedule.spans_per_s / schedule.workers:g}",
            "LOAD_BOUND_S": f"{_lasts_s(plan):g}",
        }

    def measure(self, plan: LoadPlan, stage: Stage, request: Mapping[str, object]) -> Loaded:
        """See `LoadGenerator.measure`. Writes what it counted to `results-generator.json`."""
        stage.driver.start([self.service])
        start_ns = stage.driver.time_ns()
        stage.await_end(self.service, _lasts_s(plan) + LOAD_MARGIN_S)
        traces = list(traces_generated(stage.driver.last_log_lines(self.service, LAST_LINES)))
        if len(traces) != _schedule(plan).workers:
            raise stage.failed(self.service, f"reported the traces of {len(traces)} workers")
        counted = {
            "load_s": _lasts_s(plan),
            "spans_planned": _schedule(plan).spans_per_s * _lasts_s(plan),
            "spans_generated": float(SPANS_PER_TRACE * sum(traces)),
        }
        write_results(stage.out, "generator", Results(values=counted))
        window_start_ns = start_ns + round(self.lead_s(plan) * SECOND_NS)
        return Loaded(None, start_ns, window_start_ns, window_start_ns + round(_window_s(plan) * SECOND_NS))


def traces_generated(log: Sequence[str]) -> Iterator[int]:
    """Yield how many traces each worker generated, by the log's own words."""
    for line in log:
        if found := GENERATED.search(line):
            yield int(json.loads(found[1])["traces"])


def _schedule(plan: LoadPlan) -> SpanRate:
    assert isinstance(plan.load, TelemetrygenLoad)
    return plan.load.schedule


def _lasts_s(plan: LoadPlan) -> float:
    return (plan.protocol.warm_up_s or 0.0) + _window_s(plan) + TAIL_S


def _window_s(plan: LoadPlan) -> float:
    assert plan.protocol.window_s is not None  # a load that is not counted has one
    return plan.protocol.window_s
