"""What a mesh declares: its models, what it needs, its headline, and what can be wrong with its levels. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from lab.analysis.metrics.memory import PAGE_CACHE, RSS, with_known_memory
from lab.contract import Declaration, Needs
from lab.record import MIB, NO_SIDECAR, Column, Headline
from lab.spec import Example, Experiment, Path, Problem, SpecError, suggestion
from lab.target.mesh import faulty
from lab.target.mesh.example import example
from lab.target.mesh.settings import MeshLevel, MeshLevelSettings, MeshSettings
from lab.target.mesh.system import Parts
from lab.target.mesh.topology import Topology
from lab.target.mesh.variants import NO_BACKEND, Variant

ENVOY = "envoy"
# The mesh under the Java agent with a backend takes 1 GiB, where no level has a memory limit of its own.
SYSTEM_BYTES = 1024 * MIB
# A request carries the first to the services; a running Envoy accepts the second; the generator sends at the third.
WITHOUT_RESTART = {"error_probability", "envoy_runtime", "users_fraction"}

COLUMNS = (
    Column(metric="latency_p95_ms", heading="p95 ms"),
    Column(metric=RSS, heading="RSS\nMiB"),
    Column(metric="bytes_per_request_app", heading="app\nkB/req.", per=1000),
    Column(metric="bytes_per_request_telemetry", heading="telem.\nkB/req.", per=1000),
)

SERVICES = Headline(
    primary="cpu_per_request_services_ms",
    what="CPU",
    columns=COLUMNS,
    main=(
        "cpu_per_request_services_ms",
        "cpu_per_request_backends_ms",
        RSS,
        PAGE_CACHE,
        "latency_p50_ms",
        "latency_p95_ms",
        "bytes_per_request_app",
        "bytes_per_request_telemetry",
        "startup_s",
    ),
)
WITH_SIDECARS = Headline(
    primary="cpu_per_request_proxied_ms",
    what="CPU of services and sidecars",
    columns=COLUMNS,
    main=(
        "cpu_per_request_proxied_ms",
        "cpu_per_request_services_ms",
        "cpu_per_request_sidecars_ms",
        RSS,
        PAGE_CACHE,
        "memory_sidecars_mean_mib",
        "error_fraction",
        "latency_p50_ms",
        "latency_p99_ms",
        "requests_per_s",
    ),
)


@dataclass(frozen=True)
class MeshDeclaration(Declaration):
    """See `lab.contract.Declaration`. `parts` reads the parts of a mesh with the topology of a name."""

    parts: Callable[[str], Parts]
    variants: Callable[[], Mapping[str, Variant]]
    topologies: Callable[[], Collection[str]]

    kind = "mesh"
    settings = MeshSettings
    level = MeshLevelSettings
    files = {"topology": Topology}  # noqa: RUF012

    @property
    @override
    def example(self) -> Example:
        return example(self.parts, self.variants, self.topologies)

    def headline(self, metrics: Collection[str]) -> Headline:
        """See `Declaration.headline`: the sidecars' CPU is a part of what a level with sidecars costs."""
        return with_known_memory(WITH_SIDECARS if "cpu_per_request_sidecars_ms" in metrics else SERVICES, metrics)

    @override
    def start_group(self, level: MeshLevel) -> str:
        return level.settings.telemetry

    def manifest(self, experiment: Experiment) -> Mapping[str, Any]:
        """See `Declaration.manifest`: the call graphs of all levels."""
        described = {name: self.parts(name).topology.model_dump(mode="json") for name in _topologies(experiment)}
        return {"topology": next(iter(described.values())), "topologies": described}

    @override
    def needs(self, experiment: Experiment) -> Needs:
        levels = [level.settings for level in experiment.levels()]
        of_level = {level.topology_name: self.parts(level.topology_name) for level in levels}
        backends = [of_level[level.topology_name].backend_kind(level) for level in levels]
        kinds = sorted({kind for parts in of_level.values() for kind in parts.topology.kinds()})
        return Needs(
            services=(*kinds, *sorted({name for backend in backends for name in backend.services})),
            images=(
                "services",
                *sorted({image for level in levels for fault in level.faults for image in fault.images}),
                *([ENVOY] if any(of_level[level.topology_name].mode(level).proxied for level in levels) else []),
                *sorted({name for backend in backends for name in backend.images}),
            ),
            system_bytes=max(map(self._system_bytes, levels)),
        )

    def _system_bytes(self, level: MeshLevelSettings) -> int:
        """Return the memory of one system: what its services are limited to, where a level says it."""
        if level.memory_mib is None:
            return SYSTEM_BYTES
        return len(self.parts(level.topology_name).topology.nodes) * level.memory_mib * MIB

    def problems(self, experiment: Experiment) -> Iterator[Problem]:
        """See `Declaration.problems`: names first, since the others rely on them."""
        if wrong := [*self._unknown_names(experiment)] or [*self._unreachable_backends(experiment)]:
            yield from wrong
            return
        yield from _without_restart(experiment)
        yield from self._shared_starts(experiment)
        if experiment.at_once and any(level.settings.sidecar != NO_SIDECAR for level in experiment.levels()):
            yield Problem(
                ("protocol", "side_by_side"),
                "sidecars' counters are read around one trial; run levels with sidecars one after the other",
            )
        yield from self._protocol_problems(experiment)
        for level in experiment.levels():
            if level.settings.error_probability is not None and not experiment.load.can("draws-errors"):
                yield Problem(
                    ("factors", level.name, "error_probability"),
                    f"{experiment.load.generator} cannot ask for errors; topologies can: error_probability of a node",
                )
            yield from self._sidecar_problems(level)
            yield from faulty.problems(experiment, level, self.parts(level.settings.topology_name))

    def _unknown_names(self, experiment: Experiment) -> Iterator[Problem]:
        known = {"telemetry": ("variant", self.variants()), "topology": ("topology", self.topologies())}
        places: list[tuple[Path, object]] = [
            (("factors", factor, name, key), getattr(patch, key))
            for factor, levels in experiment.factors.items()
            for name, patch in levels.items()
            for key in known
            if key in patch.model_fields_set
        ]
        for path, given in (*places, (("target", "topology"), experiment.target.level_defaults()["topology"])):
            what, names = known[str(path[-1])]
            if given not in names:
                yield Problem(path, f"unknown {what} '{given}'; {suggestion(str(given), names)}")

    def _unreachable_backends(self, experiment: Experiment) -> Iterator[Problem]:
        """Yield the levels whose variant cannot send to their backend."""
        variants = self.variants()
        for level in experiment.levels():
            settings = level.settings
            known = {NO_BACKEND: {}, **variants[settings.telemetry].backends}
            if settings.backend is not None and settings.backend not in known:
                yield Problem(
                    ("factors",),
                    f"level '{level.name}': variant '{settings.telemetry}' cannot send to backend "
                    f"'{settings.backend}'; {suggestion(settings.backend, known)}",
                )

    def _protocol_problems(self, experiment: Experiment) -> Iterator[Problem]:
        """Yield the topologies whose entry does not take what the generator sends."""
        load = experiment.load
        for name in _topologies(experiment):
            topology = self.parts(name).topology
            if load.protocol not in (None, topology.entry_protocol):
                yield Problem(
                    ("load", "generator"),
                    f"{load.generator} sends {load.protocol}, and '{topology.entry}', the entry of topology {name}, "
                    f"takes {topology.entry_protocol}",
                )

    def _shared_starts(self, experiment: Experiment) -> Iterator[Problem]:
        """Return the levels whose spans cannot be distinguished from those of other trials of their start."""
        return (
            Problem(
                ("protocol", "without_restart"),
                f"level '{level.name}' is traced, and a backend counts the spans of a whole start; leave it out",
            )
            for level in (experiment.levels() if experiment.protocol.without_restart else ())
            if self.parts(level.settings.topology_name).backend_kind(level.settings).keeps_traces
        )

    def _sidecar_problems(self, level: MeshLevel) -> Iterator[Problem]:
        settings = level.settings
        try:
            proxied = self.parts(settings.topology_name).mode(settings).proxied
        except SpecError as wrong:
            yield from (Problem(("factors", level.name, "sidecar"), problem.text) for problem in wrong.problems)
            return
        if settings.envoy_runtime and not proxied:
            yield Problem(("factors", level.name, "envoy_runtime"), "this level has no sidecar to take it")


def _topologies(experiment: Experiment) -> tuple[str, ...]:
    """Return the topologies of the levels, the target's own first."""
    target = experiment.target
    assert isinstance(target, MeshSettings)
    return tuple(dict.fromkeys([target.topology, *(level.settings.topology_name for level in experiment.levels())]))


def _without_restart(experiment: Experiment) -> Iterator[Problem]:
    """Return the factors whose levels cannot share a start of the containers."""
    return (
        Problem(("protocol", "without_restart", index), f"its level '{name}' sets {field}, which needs a restart")
        for index, factor in enumerate(experiment.protocol.without_restart)
        for name, patch in experiment.factors.get(factor, {}).items()
        for field in sorted(patch.model_fields_set - WITHOUT_RESTART)
    )
