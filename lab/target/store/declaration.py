"""What a store declares: its models, what it needs, its headline, and what can be wrong with its levels. Pure."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from typing_extensions import override

from lab.backend import BACKENDS
from lab.contract import Declaration, Needs
from lab.record import Column, Headline
from lab.spec import Example, Experiment, Problem
from lab.target import traffic
from lab.target.store.settings import StoreLevel, StoreLevelSettings, StoreSettings

HEADLINE = Headline(
    primary="cpu_per_span_us",
    what="CPU of the store",
    columns=(
        Column(metric="memory_store_end_mib", heading="MiB"),
        Column(metric="memory_per_span_held_bytes", heading="B/span\nheld"),
        Column(metric="traces_found_per_s", heading="found\n1/s"),
        Column(metric="traces_found_fraction", heading="found\n%", per=0.01),
        Column(metric="send_delay_p99_ms", heading="p99\nms"),
    ),
    main=(
        "cpu_per_span_us",
        "memory_store_end_mib",
        "memory_per_span_held_bytes",
        "spans_held",
        "traces_accepted_per_s",
        "traces_found_per_s",
        "traces_found_fraction",
        "send_delay_p50_ms",
        "send_delay_p99_ms",
    ),
)


@dataclass(frozen=True)
class StoreDeclaration(Declaration):
    """See `lab.contract.Declaration`."""

    kind = "store"
    settings = StoreSettings
    level = StoreLevelSettings
    example = Example({}, {"backend": "jaeger"})

    @override
    def headline(self, metrics: Collection[str]) -> Headline:
        return HEADLINE

    @override
    def problems(self, experiment: Experiment) -> Iterator[Problem]:
        yield from traffic.problems(experiment, "a store")
        if experiment.load.protocol is not None and not experiment.load.can("receives-traces"):
            text = f"{experiment.load.generator} does not log its traces, so none can be looked up"
            yield Problem(("load", "generator"), text)
        for level in experiment.levels():
            transport, takes = level.settings.transport, level.settings.store.takes
            if transport not in takes:
                text = f"level {level.name}: {level.settings.backend} does not take transport {transport}"
                yield Problem(("factors",), f"{text}; expected {' or '.join(takes)}")

    @override
    def needs(self, experiment: Experiment) -> Needs:
        levels = [level.settings for level in experiment.levels()]
        stores = [BACKENDS[name] for name in sorted({level.backend for level in levels})]
        return Needs(
            services=tuple(service for store in stores for service in store.services),
            images=tuple(image for store in stores for image in store.images),
            system_bytes=max(level.memory_mib for level in levels) << 20,
            # The generator must not take what is measured.
            own_cpus=True,
        )

    @override
    def start_group(self, level: StoreLevel) -> str:
        return level.settings.backend
