"""The manifest's part of the page: how the run was made, and how to repeat it."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from lab.record import TrialRecord
from lab.report.numbers import duration, number, percent, scale_for

Rows = Sequence[tuple[str, str]]
"""Names and values."""


def facts(manifest: Mapping[str, Any]) -> Mapping[str, Rows]:
    """List what the manifest says about the run, by titles, without missing parts."""
    git = mapping(manifest.get("git"))
    revision = f"{git.get('revision') or 'unknown'}{', with uncommitted changes' if git.get('dirty') else ''}"
    run = [
        ("experiment", str(manifest.get("experiment", "unknown"))),
        ("command", str(manifest.get("command", "unknown"))),
        ("started", str(manifest.get("started") or "unknown")),
        ("finished", str(manifest.get("finished") or "not finished: the run was interrupted")),
        *([("ended early", str(manifest["stopped"]))] if manifest.get("stopped") else []),
        ("git revision", revision),
        ("seed", str(manifest.get("seed", "unknown"))),
    ]
    parts = {"Calibrated load": "calibration", "Machine": "machine", "Versions": "versions", "Images": "images"}
    found: dict[str, Rows] = {title: _flat(mapping(manifest.get(key))) for title, key in parts.items()}
    took = [(name, duration(seconds)) for name, seconds in durations_s(manifest).items()]
    return {title: rows for title, rows in {"Run": run, **found, "How long it took": took}.items() if rows}


def durations_s(manifest: Mapping[str, Any]) -> Mapping[str, float]:
    """How long each part of the run took."""
    durations = mapping(manifest.get("durations_s"))
    return {name: float(seconds) for name, seconds in durations.items() if isinstance(seconds, int | float)}


def _flat(part: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in part.items():
        name = f"{prefix}{key}".replace("_", " ")
        if isinstance(value, Mapping):
            rows += _flat(value, f"{name}, ")
        elif name.endswith(" bytes") and isinstance(value, int):
            scale = scale_for("B", [value])
            rows.append((name.removesuffix(" bytes"), f"{scale.show(value)} {scale.unit}"))
        elif name.endswith(" fraction") and isinstance(value, float):
            rows.append((name, percent(value)))
        else:
            rows.append((name, _plain(value)))
    return rows


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_plain(item) for item in value)
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "unknown"}[value]
    return number(value) if isinstance(value, float) else str(value)


def documents(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """Give the experiment and its topology as YAML, by titles."""
    titles = {"spec": "The experiment as run", "topology": "The topology"}
    return {
        title: yaml.safe_dump(manifest[key], sort_keys=False, allow_unicode=True, width=100)
        for key, title in titles.items()
        if manifest.get(key)
    }


def commands(manifest: Mapping[str, Any]) -> list[str]:
    """List the commands that run it again."""
    revision = mapping(manifest.get("git")).get("revision")
    checkout = [f"git checkout {revision}"] if revision else []
    return [*checkout, "make setup", f".venv/bin/{manifest.get('command') or 'lab experiment'}"]


def rerun_note(manifest: Mapping[str, Any]) -> str:
    """Say what the commands do not reproduce; empty where they reproduce everything."""
    dirty = "The run was made with uncommitted changes: the revision alone does not reproduce it."
    return dirty if mapping(manifest.get("git")).get("dirty") else ""


def order(manifest: Mapping[str, Any], trials: Sequence[TrialRecord]) -> str:
    """Return in which order the trials of a block were run."""
    if any(trial.slices for trial in trials):
        each = "requests go to one level after the other" if _interleaved(manifest) else "load goes to one at a time"
        return (
            f"Every block starts each level once, in an order drawn from the seed. Then {each}, in short slices, whose "
            "order is drawn anew for each round."
        )
    if _side_by_side(manifest):
        return "Every block starts each level once, in an order drawn from the seed, and measures all in one window."
    return "Every block runs each level once, in an order drawn from the seed, so drift affects all levels alike."


def shared_machine(manifest: Mapping[str, Any]) -> Sequence[str]:
    """Return a caution for levels that were measured at once; nothing for a run that measured one at a time."""
    shared = [
        "All levels of a block were measured at the same time, side by side. Ratios are of systems that share a "
        "machine; latencies include waiting for the other systems."
    ]
    return shared if _side_by_side(manifest) or _interleaved(manifest) else []


def _interleaved(manifest: Mapping[str, Any]) -> bool:
    return bool(mapping(mapping(mapping(manifest.get("spec")).get("load")).get("schedule")).get("interleaved"))


def _side_by_side(manifest: Mapping[str, Any]) -> bool:
    return bool(mapping(mapping(manifest.get("spec")).get("protocol")).get("side_by_side"))


def mapping(value: Any) -> Mapping[str, Any]:
    """Take a part of the manifest as the mapping that it should be; an empty one where it is not."""
    return value if isinstance(value, Mapping) else {}
