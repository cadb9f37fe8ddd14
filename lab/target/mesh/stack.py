"""From a level to containers: the overlay and the variables that `compose.yaml` is given. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.backend import BACKENDS
from lab.engine import CpuSplit, Stack
from lab.target.mesh.topology import DOMAIN, Topology
from lab.target.mesh.variants import Telemetry

# Additions to the overlay, by Compose service.
Added = Mapping[str, Mapping[str, Any]]
NOTHING: Added = {}


@dataclass(frozen=True)
class Files:
    """Where a stack finds its files: the repository, and the folder of this start."""

    root: Path
    out: Path


def stack(
    telemetry: Telemetry,
    topology: Topology,
    cpus: CpuSplit,
    files: Files,
    load: Mapping[str, str],
    extra_services: tuple[str, ...] = (),
    added: Added = NOTHING,
) -> Stack:
    """What to create for one start of the containers with this telemetry.

    `load` are the load generator's variables (none: `lab up`); `added` what sidecars add to nodes, and their services.
    """
    nodes = {name: _node(name, node.kind, telemetry.environment, files.root) for name, node in topology.nodes.items()}
    own = tuple(name for name in added if name not in nodes)
    return Stack(
        services=(*topology.nodes, *own, *BACKENDS[telemetry.backend].services, *extra_services),
        overlay={"services": {name: _with(nodes.get(name, {}), added.get(name, {})) for name in (*nodes, *own)}},
        environment={
            "TELEMETRY": telemetry.instrumentation,
            "TRIAL_DIR": str(files.out),
            **cpus.variables(),
            **load,
        },
    )


def _with(service: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """A service with what is added to it; both may give variables."""
    environment = {**service.get("environment", {}), **added.get("environment", {})}
    return {**service, **added, **({"environment": environment} if environment else {})}


def _node(name: str, kind: str, telemetry: Mapping[str, str], root: Path) -> dict[str, Any]:
    given = {"NODE": name, "OTEL_SERVICE_NAME": name, **telemetry}
    # Compose would read a dollar sign as a variable.
    environment = {key: value.replace("$", "$$") for key, value in given.items()}
    service: dict[str, Any] = {
        "environment": environment,
        "profiles": [kind],
        "networks": {"app": {"aliases": [name + DOMAIN]}, "telemetry": {}},
    }
    if name != kind:
        service["extends"] = {"file": str(root / "compose.yaml"), "service": kind}
    return service
