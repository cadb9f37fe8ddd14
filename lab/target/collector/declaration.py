"""What a Collector declares: its models, what it needs, its headline, and what can be wrong with its levels. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from typing_extensions import override

from lab.contract import Declaration, Needs
from lab.record import Column, Headline
from lab.spec import Example, Experiment, Problem, suggestion
from lab.target import traffic
from lab.target.collector.settings import CollectorLevel, CollectorLevelSettings, CollectorSettings

COLLECTOR, SINK, GENERATOR = "collector", "sink", "traces"
WORDS = {COLLECTOR: "next Collector", SINK: "sink", GENERATOR: "generator"}
# The image of the earlier release.
EARLIER = "collector-earlier"
# The container's default limit of memory.
SYSTEM_BYTES = 512 << 20

HEADLINE = Headline(
    primary="cpu_per_span_us",
    what="CPU of the Collector",
    columns=(
        Column(metric="memory_collector_mean_mib", heading="MiB"),
        Column(metric="spans_per_s", heading="spans/s"),
        Column(metric="spans_lost_fraction", heading="lost\n%", per=0.01),
    ),
    main=(
        "cpu_per_span_us",
        "cpu_collector_cores",
        "memory_collector_mean_mib",
        "spans_per_s",
        "spans_lost_fraction",
    ),
)


@dataclass(frozen=True)
class CollectorDeclaration(Declaration):
    """See `lab.contract.Declaration`. `pipelines`: by name, where each sends its spans: the services."""

    pipelines: Callable[[], Mapping[str, Collection[str]]]

    kind = "collector"
    settings = CollectorSettings
    level = CollectorLevelSettings
    example = Example({"pipeline": "discard"}, {"memory_mib": 512})

    @override
    def headline(self, metrics: Collection[str]) -> Headline:
        return HEADLINE

    @override
    def problems(self, experiment: Experiment) -> Iterator[Problem]:
        for level in experiment.levels():
            yield from self._pipelines_of(level.settings)
            if level.settings.returns and not experiment.load.can("receives-traces"):
                yield Problem(
                    ("target", "returns"), f"{experiment.load.generator} does not receive what it sent; leave it out"
                )
            if level.settings.returns and level.settings.sink_spans_per_s:
                yield Problem(
                    ("factors",),
                    f"level {level.name}: sink_spans_per_s: spans go back to the generator, so there is no sink",
                )
        yield from traffic.problems(experiment, "a Collector")

    @override
    def needs(self, experiment: Experiment) -> Needs:
        levels = [level.settings for level in experiment.levels()]
        receivers = [SINK] if any(not level.returns for level in levels) else []
        images = dict.fromkeys(COLLECTOR if level.release == "current" else EARLIER for level in levels)
        # The generator and the sink must not take what is measured.
        return Needs((COLLECTOR, *receivers), (*images, *receivers), SYSTEM_BYTES, own_cpus=True)

    def start_group(self, level: CollectorLevel) -> str:
        """See `Declaration.start_group`: a Collector starts equally fast with every pipeline."""
        return COLLECTOR

    def _pipelines_of(self, settings: CollectorLevelSettings) -> Iterator[Problem]:
        """Yield what is wrong with the pipelines of a level: they are unknown, or send their spans elsewhere."""
        stages = [("pipeline", settings.pipeline_name, GENERATOR if settings.returns else SINK)]
        if settings.edges:
            stages.append(("edge_pipeline", settings.edge_pipeline, COLLECTOR))
        known = self.pipelines()
        for field, name, to in stages:
            if to not in known.get(name, ()):
                fitting = [pipeline for pipeline, goals in known.items() if to in goals]
                yield Problem(
                    ("target", field), f"no pipeline '{name}' sends to the {WORDS[to]}; {suggestion(name, fitting)}"
                )
