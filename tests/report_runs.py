"""Results folders, analysed, that the report's tests build pages from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lab.analyse import analyse
from tests.synthetic import Level, write_results

AWKWARD_NAME = '<b>&$x$ "q"</b>'


def quick(root: Path) -> Path:
    """Write a run like `quick`: four levels, three blocks, one refused attempt."""
    write_results(root)
    analyse(root)
    return root


def degenerate(root: Path) -> Path:
    """Write a run with one block, no trace, a level without a valid trial, and a name that needs escaping."""
    levels = {"baseline": Level(), "placebo": Level(), "named": Level(cpu_ms=44.0), "refused": Level(cpu_ms=90.0)}
    write_results(root, levels=levels, blocks=1, refused=False)
    for path in root.glob("trials/*-refused/trial.json"):
        _edit(path, lambda trial: trial | {"valid": False, "reasons": ["5 of 90 requests failed", "<i>not steady</i>"]})
    analyse(root)
    for path in (root / "summary.json", root / "manifest.json", *root.glob("trials/*/trial.json")):
        path.write_text(path.read_text().replace('"named"', json.dumps(AWKWARD_NAME)))
    return root


def bare_manifest(root: Path) -> Path:
    """Write a run whose manifest says nothing but what it is."""
    quick(root)
    _edit(root / "manifest.json", lambda manifest: {key: manifest[key] for key in ("format", "version")})
    return root


def _edit(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
