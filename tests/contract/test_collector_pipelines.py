"""The lab's Collector accepts every pipeline in collector/pipelines."""

import subprocess
from pathlib import Path

import pytest

from lab.command import paths
from lab.engine import images

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(300)]

FOLDER = paths.ROOT / "collector" / "pipelines"


@pytest.fixture(scope="module")
def image() -> str:
    images.ensure(["collector"], print)
    return images.references(["collector"])["collector"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_collector_accepts_it(image: str, path: Path) -> None:
    command = ["docker", "run", "--rm", "--network", "none", "--volume", f"{FOLDER}:/pipelines:ro", image]
    done = subprocess.run(
        [*command, "validate", "--config", f"/pipelines/{path.name}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
