"""From version 1 of files and records, which knew no other target than a mesh, to version 2. Pure."""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from lab.record import Stream
from lab.target.mesh.declaration import SERVICES, WITH_SIDECARS
from lab.target.mesh.settings import MeshLevelSettings

Json = dict[str, Any]

FINDINGS: Mapping[str | None, str] = {"cannot tell": "inconclusive"}


def experiment_text(text: str) -> str:
    """Return the text of an experiment file in version 2; comments stay where they are."""
    lines: list[str] = []
    in_load = False
    for line in text.splitlines():
        in_load = in_load and (not line.strip() or line.startswith(" "))
        if found := re.fullmatch(r"topology: (\S+)(.*)", line):
            lines.append(f"target: {{kind: mesh, topology: {found[1]}}}{found[2]}")
        elif re.fullmatch(r"version: 1\s*", line):
            lines.append("version: 2")
        elif found := re.fullmatch(r"load: (\{.*\})(.*)", line):
            data = load(yaml.safe_load(found[1]))
            flow = yaml.safe_dump(data, default_flow_style=True, sort_keys=False, width=10_000).strip()
            lines.append(f"load: {flow}{found[2]}")
        elif line == "load:":
            in_load = True
            lines.append(line)
        elif in_load and (found := re.fullmatch(r"  generator: (\S+)(.*)", line)):
            lines += [line, "  schedule:", "    kind: closed-loop"]
        else:
            lines.append(f"  {line}" if in_load and line.strip() else line)
    return "\n".join([*lines, ""])


def load(given: Mapping[str, Any]) -> Json:
    """Return a load with its schedule apart from its generator."""
    schedule = {name: value for name, value in given.items() if name != "generator"}
    # Only ghz counted requests, which it did by default too.
    users = "users" in schedule or "think_time_s" in schedule
    return {
        "generator": given["generator"],
        "schedule": {"kind": "closed-loop" if users else "counted", **schedule},
    }


def spec(given: Mapping[str, Any]) -> Json:
    """Return a manifest's experiment."""
    kept = {name: value for name, value in given.items() if name != "topology"}
    protocol = {name: value for name, value in given["protocol"].items() if name != "reference"}
    factors = {
        factor: {
            level: {name: value for name, value in patch.items() if value not in (None, {}, [])}
            for level, patch in levels.items()
        }
        for factor, levels in given["factors"].items()
    }
    return {
        **kept,
        "version": 2,
        "target": {"kind": "mesh", "topology": given["topology"]},
        "load": load(given["load"]),
        "factors": factors,
        "protocol": protocol,
        "headline": None,
    }


def manifest(given: Mapping[str, Any]) -> Json:
    """Return `manifest.json`, which records what it was migrated from."""
    return {
        **given,
        "version": 2,
        "spec": spec(given["spec"]),
        "stopped": given.get("stopped"),
        "migrated": {"from_version": 1, "written_by_revision": (given.get("git") or {}).get("revision")},
    }


def settings(given: Mapping[str, Any], topology: str) -> Json:
    """Return a level's settings with every default; `topology` is the experiment's own."""
    known = {
        name: value for name, value in given.items() if name in MeshLevelSettings.model_fields and value is not None
    }
    return MeshLevelSettings.model_validate({"topology": topology, **known}).model_dump(mode="json")


def trial(given: Mapping[str, Any], topology: str, streams: Mapping[str, Stream]) -> Json:
    """Return `trial.json`; `streams` are those of its folder."""
    moved = ("users", "load_start_ns", "window_start_ns", "window_end_ns")
    return {
        **{name: value for name, value in given.items() if name not in moved},
        "version": 2,
        "settings": settings(given["settings"], topology),
        "found": {"users": given["users"]},
        "window": {
            "load_start_ns": given["load_start_ns"],
            "start_ns": given["window_start_ns"],
            "end_ns": given["window_end_ns"],
        },
        "streams": {name: stream.model_dump(mode="json") for name, stream in streams.items()},
    }


def summary(given: Mapping[str, Any], topology: str) -> Json:
    """Return `summary.json`; older ones compared with the baseline alone."""
    headline = WITH_SIDECARS if "cpu_per_request_sidecars_ms" in given["metrics"] else SERVICES
    return {
        **given,
        "version": 2,
        "compared_with": given.get("compared_with") or [given["baseline"]],
        "headline": headline.model_dump(mode="json"),
        "levels": {
            name: {
                "settings": settings(level["settings"], topology),
                "trials": level["trials"],
                "rejected": level["refused"],
            }
            for name, level in given["levels"].items()
        },
        "estimates": [
            {**row, "finding": FINDINGS.get(row.get("finding"), row.get("finding")), "censored": None}
            for row in given["estimates"]
        ],
        "trials": [{"position": None, **row, "censored": {}} for row in given["trials"]],
        "adjustments": given.get("adjustments", {}),
    }


def verdicts(given: Mapping[str, Any]) -> Json:
    """Return `claims.json`."""
    return {
        **given,
        "version": 2,
        "claims": [
            {
                **claim,
                "verdict": FINDINGS.get(claim["verdict"], claim["verdict"]),
                "parts": [{**part, "answer": FINDINGS.get(part["answer"], part["answer"])} for part in claim["parts"]],
            }
            for claim in given["claims"]
        ],
    }
