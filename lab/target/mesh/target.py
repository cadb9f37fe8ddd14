"""The target `mesh`: Spring services that call each other, with telemetry variants and Envoy sidecars."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path

from typing_extensions import override

from lab.contract import Target
from lab.engine import Place, envoy_check
from lab.spec import Experiment, find_named_file
from lab.target.mesh import sidecars
from lab.target.mesh.declaration import ENVOY, MeshDeclaration
from lab.target.mesh.deployment import MeshDeployment
from lab.target.mesh.judgement import JUDGEMENT
from lab.target.mesh.settings import MeshLevel
from lab.target.mesh.system import Parts
from lab.target.mesh.topology import load_topology
from lab.target.mesh.variants import Variant, load_variants


class Mesh(Target[Place]):
    """See `lab.contract.Target`. `root` is the repository; its files are read when they are first needed."""

    judgement = JUDGEMENT

    def __init__(self, root: Path) -> None:
        self._topologies = root / "experiments" / "topologies"
        self._variants = root / "services" / "telemetry"
        self._envoy = root / "envoy"
        self.parts = cache(self._parts)

    @cached_property
    @override
    def declaration(self) -> MeshDeclaration:
        return MeshDeclaration(
            self.parts, lambda: self.variants, lambda: [path.stem for path in self._topologies.glob("*.yaml")]
        )

    @cached_property
    def variants(self) -> Mapping[str, Variant]:
        """The telemetry variants by name."""
        return load_variants(self._variants)

    def prepare(self, experiment: Experiment, images: Mapping[str, str]) -> None:
        """See `Target.prepare`: Envoy validates each configuration once, named by the first level that has it."""
        if ENVOY not in images:
            return
        named = {
            text: f"{level.name}/{path}"
            for level in reversed(experiment.levels())
            for path, text in self.parts(level.settings.topology_name).proxy_files(level.settings).items()
        }
        envoy_check.reject_invalid({name: text for text, name in named.items()}, images[ENVOY])

    @override
    def deployment(self, level: MeshLevel, place: Place, out: Path) -> MeshDeployment:
        return MeshDeployment(self.parts(level.settings.topology_name), level.settings, place, out)

    def versions(self, trial: Path) -> Mapping[str, str]:
        """See `Target.versions`: each service wrote them when it was ready."""
        ready = [json.loads(path.read_text()) for path in sorted(trial.glob("ready/*.json"))]
        return {name: version for one in ready for name, version in one.get("versions", {}).items()}

    def profiled(self, level: MeshLevel, agent: str) -> MeshLevel:
        """See `Target.profiled`: the agent is one of the JVMs' options, after those that they already have."""
        settings = level.settings
        options = self.parts(settings.topology_name).telemetry(settings).environment.get("JAVA_OPTS", "")
        environment = {**settings.environment, "JAVA_OPTS": f"{options} {agent}".strip()}
        return replace(level, settings=settings.model_copy(update={"environment": environment}))

    def _parts(self, topology: str) -> Parts:
        found = load_topology(find_named_file("topology", topology, self._topologies))
        return Parts(found, self.variants, sidecars.load(self._envoy))
