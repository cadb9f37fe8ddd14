"""Compose accepts every combination that the lab can give it, and each is safe."""

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lab.backend import BACKENDS
from lab.command import paths
from lab.engine.machine import CpuSplit
from lab.load import GENERATORS
from lab.target.mesh.system import stack
from lab.target.mesh.topology import load_topology
from lab.target.mesh.variants import Telemetry, chosen
from tests.composing import BRIEF, COMPOSE
from tests.labs import MESH

VARIANTS = MESH.variants
TOPOLOGY_FILES = paths.EXPERIMENTS / "topologies"
TOPOLOGIES = sorted(path.stem for path in TOPOLOGY_FILES.glob("*.yaml"))
# What must leave the safe defaults, and is said so beside its service in compose.yaml.
HOST_PID = {"observer"}


def config(
    tmp_path: Path, telemetry: Telemetry, topology: str = "mesh", generators: Iterable[str] = ("locust",)
) -> dict[str, Any]:
    """What Compose makes of one combination."""
    path = TOPOLOGY_FILES / f"{topology}.yaml"
    wanted = stack(telemetry, load_topology(path), paths.ROOT, {})
    services = (*wanted.services, "observer", *(GENERATORS[name].service for name in generators))
    variables = {**wanted.environment, "TRIAL_DIR": str(tmp_path), **CpuSplit((0,), (1,)).variables()}
    overlay = tmp_path / "overlay.json"
    overlay.write_text(json.dumps(wanted.overlay))
    files = ["--file", str(paths.ROOT / "compose.yaml"), "--file", str(overlay)]
    command = [*COMPOSE, "--project-directory", str(paths.ROOT), *files, "config", "--format", "json"]
    done = subprocess.run([*command, *services], capture_output=True, text=True, check=False,
                          env={"PATH": "/usr/bin:/bin:/usr/local/bin", **BRIEF, **variables})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "variable is not set" not in done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["services"]
    assert set(found) == set(services)
    return found


@pytest.mark.parametrize("topology", TOPOLOGIES)
@pytest.mark.parametrize("telemetry", VARIANTS)
def test_every_combination(tmp_path: Path, telemetry: str, topology: str) -> None:
    """With all generators at once: a process of Compose for each would take five times as long."""
    services = config(tmp_path, chosen(VARIANTS[telemetry]), topology, GENERATORS)
    are_safe(services)
    nodes = load_topology(TOPOLOGY_FILES / f"{topology}.yaml").nodes
    assert all(services[node]["environment"]["NODE"] == node for node in nodes)
    assert all(services[node]["cpuset"] == "0" for node in nodes)
    for node in nodes:
        found = {network: (given or {}).get("aliases", []) for network, given in services[node]["networks"].items()}
        assert found == {"app": [f"{node}.internal"], "telemetry": []}


@pytest.mark.parametrize("generator", GENERATORS)
def test_every_generator_needs_no_other(tmp_path: Path, generator: str) -> None:
    are_safe(config(tmp_path, chosen(VARIANTS["baseline"]), generators=[generator]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend(tmp_path: Path, backend: str) -> None:
    services = config(tmp_path, Telemetry("baseline", backend, "none", {}))
    are_safe(services)
    parts = [services[name] for name in BACKENDS[backend].services]
    assert all(set(part["networks"]) == {"telemetry"} for part in parts)
    assert all(part["mem_limit"] and part["cpuset"] == "1" for part in parts)
    assert all(volume["read_only"] for part in parts for volume in part.get("volumes", []) if volume["type"] == "bind")


def are_safe(services: dict[str, Any]) -> None:
    """Every container has what `x-safe` says."""
    for name, service in services.items():
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert not service["user"].startswith("0"), name
        assert "privileged" not in service, name
        assert "cap_add" not in service, name
        assert ("pid" in service) == (name in HOST_PID), name
        assert not any("docker.sock" in volume.get("source", "") for volume in service.get("volumes", [])), name
        assert all(port["host_ip"] == "127.0.0.1" for port in service.get("ports", [])), name


def test_a_levels_environment_reaches_the_services_to_the_letter(tmp_path: Path) -> None:
    given = {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "64", "ODD": "a $HOME ${X} $$ b"}
    services = config(tmp_path, chosen(VARIANTS["otel-manual"], environment=given))
    # `config` prints a file that Compose can read again, with its dollar signs doubled.
    assert {key: services["a1"]["environment"][key].replace("$$", "$") for key in given} == given
    assert services["a1"]["environment"]["TELEMETRY"] == "otel-manual"
