"""From a level to containers: the overlay and the variables that `compose.yaml` is given. Pure."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.backend import BACKENDS
from lab.engine import CpuSplit, Stack
from lab.target.mesh.topology import DOMAIN, Topology
from lab.target.mesh.variants import Telemetry


def stack(
    telemetry: Telemetry,
    topology: Topology,
    cpus: CpuSplit,
    root: Path,
    out: Path,
    load: Mapping[str, str],
    extra_services: Sequence[str],
    added: Mapping[str, Mapping[str, Any]],
) -> Stack:
    """What to create for one start of the containers with this telemetry, in the repository at `root`.

    `load` are the load generator's variables (none: `lab up`); `added`, by Compose service, what sidecars
    add to nodes, and their own services.
    """
    nodes = {name: _node(name, node.kind, telemetry.environment, root) for name, node in topology.nodes.items()}
    own = tuple(name for name in added if name not in nodes)
    return Stack(
        services=(*topology.nodes, *own, *BACKENDS[telemetry.backend].services, *extra_services),
        overlay={"services": {name: _with(nodes.get(name, {}), added.get(name, {})) for name in (*nodes, *own)}},
        environment={
            "TELEMETRY": telemetry.instrumentation,
            "TRIAL_DIR": str(out),
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
