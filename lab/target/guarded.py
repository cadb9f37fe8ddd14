"""The administration page of a running Envoy: its paths and answers, and its guard (envoy/guard.yaml).

Other sites' pages may read it at most.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from lab.spec import parse_yaml, read_text

CHANGES = {"x-tollbooth": "changes"}
"""The header of a request that changes something."""


def runtime_path(values: Mapping[str, int | str]) -> str:
    """Return the path that sets runtime values by POST; "" removes one."""
    # Envoy leaves a "+" as it is: a blank has to be "%20".
    return f"/runtime_modify?{urlencode(values, quote_via=quote)}"


def numbers(stats: str | bytes) -> dict[str, int]:
    """Return the counters or gauges of an answer to `/stats?format=json`, by Envoy's names."""
    return {stat["name"]: stat["value"] for stat in json.loads(stats)["stats"] if "value" in stat}


def guarded(files: Mapping[str, str], root: Path) -> dict[str, str]:
    """Return Envoys' configurations, by path, with the guard in front of their administration pages.

    `root` is the repository's.
    """
    guard: Any = parse_yaml(read_text(root / "envoy" / "guard.yaml"))
    return {path: _guarded(json.loads(text), guard) for path, text in files.items()}


def as_measured(files: Mapping[str, str], _: Path) -> dict[str, str]:
    """Return the configurations as they are: those of a trial, which only the lab reads."""
    return dict(files)


def _guarded(whole: dict[str, Any], guard: Mapping[str, Any]) -> str:
    static = whole["static_resources"]
    (endpoint,) = guard["cluster"]["load_assignment"]["endpoints"][0]["lb_endpoints"]
    static["listeners"].append(guard["listener"])
    static["clusters"].append(guard["cluster"])
    whole["admin"]["address"] = endpoint["endpoint"]["address"]
    return json.dumps(whole, indent=1) + "\n"
