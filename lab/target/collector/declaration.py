"""What a Collector declares: its models, what it needs, its headline, and what can be wrong with its levels. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from lab.contract import Needs
from lab.record import Column, Headline
from lab.spec import Experiment, Problem, Shape, suggestion
from lab.target.collector.settings import CollectorLevel, CollectorLevelSettings, CollectorSettings

COLLECTOR, SINK = "collector", "sink"
PROTOCOL: Final = "otlp"
# The container's default limit of memory.
SYSTEM_BYTES = 512 << 20

HEADLINE = Headline(
    primary="cpu_per_span_us",
    what="CPU of the Collector",
    columns=(
        Column(metric="memory_collector_mean_mib", heading="MiB"),
        Column(metric="spans_per_s", heading="spans/s"),
        Column(metric="spans_dropped_fraction", heading="dropped\n%", per=0.01),
    ),
    main=(
        "cpu_per_span_us",
        "cpu_collector_cores",
        "memory_collector_mean_mib",
        "spans_per_s",
        "spans_dropped_fraction",
    ),
)


@dataclass(frozen=True)
class CollectorDeclaration:
    """See `lab.contract.Declaration`. `pipelines` returns the names of the pipelines that send to the sink."""

    pipelines: Callable[[], Collection[str]]

    kind = "collector"
    unit_of_work = "span"
    containers = True
    settings = CollectorSettings
    level = CollectorLevelSettings
    example = ({"pipeline": "discard"}, {"memory_mib": 512})
    files: ClassVar[Mapping[str, type[Shape]]] = {}
    streams = {"counters": 1, "results": 1, "speed": 1}  # noqa: RUF012

    def headline(self, metrics: Collection[str]) -> Headline:
        """See `Declaration.headline`."""
        return HEADLINE

    def problems(self, experiment: Experiment) -> Iterator[Problem]:
        """See `Declaration.problems`."""
        pipelines = self.pipelines()
        for level in (level.settings.pipeline_name for level in experiment.levels()):
            if level not in pipelines:
                text = f"no pipeline '{level}' sends to the sink; {suggestion(level, pipelines)}"
                yield Problem(("target", "pipeline"), text)
        if experiment.load.protocol not in (None, PROTOCOL):
            text = f"{experiment.load.generator} sends {experiment.load.protocol}, a Collector takes {PROTOCOL}"
            yield Problem(("load", "generator"), text)
        if experiment.protocol.warm_up_requests is not None:
            yield Problem(("protocol", "warm_up_requests"), "a Collector's load has no requests; wanted warm_up_s")

    def needs(self, experiment: Experiment) -> Needs:
        """See `Declaration.needs`."""
        return Needs((COLLECTOR, SINK), (COLLECTOR, SINK), SYSTEM_BYTES)

    def start_group(self, level: CollectorLevel) -> str:
        """See `Declaration.start_group`: a Collector starts equally fast with every pipeline."""
        return COLLECTOR

    def manifest(self, experiment: Experiment) -> Mapping[str, Any]:
        """See `Declaration.manifest`."""
        return {}
