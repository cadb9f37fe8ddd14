"""What benchmarks declare: their models, what they need, their headline, and what can be wrong with levels. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from typing_extensions import override

from lab.contract import Declaration, Needs
from lab.record import Column, Headline
from lab.spec import Example, Experiment, Problem, suggestion
from lab.target.jmh.settings import JmhLevel, JmhLevelSettings, JmhSettings

BENCHMARK, IMAGE = "benchmark", "benchmarks"

HEADLINE = Headline(
    primary="cpu_per_span_ns",
    what="CPU per span",
    columns=(
        Column(metric="caller_ns_per_span", heading="caller\nns"),
        Column(metric="allocated_bytes_per_span", heading="alloc.\nB"),
        Column(metric="body_bytes_per_span", heading="sent\nB"),
        Column(metric="burst_us", heading="burst\nµs"),
    ),
    main=(
        "cpu_per_span_ns",
        "caller_ns_per_span",
        "allocated_bytes_per_span",
        "body_bytes_per_span",
        "backend_cpu_per_span_ns",
        "burst_us",
        "spans_per_s",
        "spans_dropped_fraction",
    ),
)


@dataclass(frozen=True)
class JmhDeclaration(Declaration):
    """See `lab.contract.Declaration`. `benchmarks`: the names of each benchmark's parameters, by its name."""

    benchmarks: Callable[[], Mapping[str, Collection[str]]]

    kind = "jmh"
    settings = JmhSettings
    level = JmhLevelSettings
    example = Example(
        {},
        {"benchmark": "CallerBenchmark", "parameters": {"tracer": "streaming-discard", "attributes": "10"}},
    )

    @override
    def headline(self, metrics: Collection[str]) -> Headline:
        return HEADLINE

    @override
    def problems(self, experiment: Experiment) -> Iterator[Problem]:
        if experiment.load.protocol is not None:
            text = f"{experiment.load.generator} sends a load, and benchmarks take none; expected none"
            yield Problem(("load", "generator"), text)
        known = self.benchmarks()
        for level in experiment.levels():
            for text in _wrong(level.settings, known):
                yield Problem(("factors",), f"level {level.name}: {text}")

    @override
    def needs(self, experiment: Experiment) -> Needs:
        memory_mib = max(level.settings.memory_mib for level in experiment.levels())
        # No load takes CPU time from it: it may have all CPUs, so that its threads run in parallel.
        return Needs((BENCHMARK,), (IMAGE,), memory_mib << 20)

    @override
    def start_group(self, level: JmhLevel) -> str:
        return level.settings.benchmark


def _wrong(settings: JmhLevelSettings, known: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Yield what is wrong with a level's benchmark, or else with its parameters. JMH ignores those it does not know."""
    if settings.benchmark not in known:
        yield f"no benchmark is called '{settings.benchmark}'; {suggestion(settings.benchmark, known)}"
        return
    wanted = known[settings.benchmark]
    for name in settings.parameters:
        if name not in wanted:
            yield f"{settings.benchmark} has no parameter '{name}'; {suggestion(name, wanted)}"
    for name in wanted:
        if name not in settings.parameters:
            yield f"{settings.benchmark} needs a value of its parameter '{name}'"
