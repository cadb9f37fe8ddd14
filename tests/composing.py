"""How tests without an engine call Compose: itself. `docker` would start it twice, first to read what it is."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.repository import ROOT

# Where `docker` looks for its plugins.
FOLDERS = (
    Path.home() / ".docker/cli-plugins",
    *(
        Path(folder) / "docker/cli-plugins"
        for folder in ("/usr/local/lib", "/usr/local/libexec", "/usr/lib", "/usr/libexec")
    ),
)
COMPOSE = next(
    ([str(path)] for folder in FOLDERS if (path := folder / "docker-compose").exists()), ["docker", "compose"]
)
# Compose ends after a tenth of a second: collecting garbage, and looking for work on other CPUs, would only take time.
BRIEF = {"GOGC": "off", "GOMAXPROCS": "1"}


@cache
def services() -> Mapping[str, Any]:
    """Return what compose.yaml says of each service. It takes a third of a second to parse."""
    found: Mapping[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return found
