"""The one container that may change a network can do nothing else."""

import json
import subprocess
from typing import Any

import pytest

from lab.command import paths
from lab.engine.image_recipes import TABLE
from lab.fault.kinds import KINDS
from tests.composing import BRIEF, COMPOSE


def service(namespace: dict[str, str]) -> dict[str, Any]:
    """`nettools`, as Compose understands it."""
    files = ["--project-directory", str(paths.ROOT), "--file", str(paths.ROOT / "compose.yaml")]
    command = [*COMPOSE, *files, "config", "--format", "json", "nettools"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", **BRIEF, **namespace},
    )
    found: dict[str, Any] = json.loads(done.stdout)["services"]["nettools"]
    return found


def test_the_container_that_changes_networks_has_one_capability_and_no_network_of_its_own() -> None:
    found = service({})
    assert found["cap_drop"] == ["ALL"]
    assert found["cap_add"] == ["NET_ADMIN"]
    assert found["read_only"]
    assert found["security_opt"] == ["no-new-privileges:true"]
    assert found["network_mode"] == "none"
    assert not {"privileged", "pid", "volumes", "ports", "devices"} & set(found)


def test_it_is_given_the_network_namespace_of_one_container() -> None:
    assert service({"NAMESPACE": "container:abc"})["network_mode"] == "container:abc"


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_needs_images_that_there_are(kind: str) -> None:
    assert set(KINDS[kind].images) <= TABLE.keys()
