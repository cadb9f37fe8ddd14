"""What one needs to know to run an experiment again, or to distrust it: revision, machine, images, versions."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from lab.engine.image_engine import image_ids
from lab.engine.machine import read_machine, run_command


def collect(root: Path, images: dict[str, str]) -> dict[str, Any]:
    """The manifest's `git`, `machine`, `images` (name -> reference, resolved here to ids) and `versions`."""
    return {
        "git": {"revision": _git(root, "rev-parse", "HEAD"), "dirty": bool(_git(root, "status", "--porcelain"))},
        "machine": asdict(read_machine(Path("/proc"), Path("/sys"))),
        "images": resolved(images),
        "versions": {},
    }


def resolved(images: dict[str, str]) -> dict[str, str]:
    """The id of each image by its name; `images`: name -> reference."""
    ids = image_ids(images.values())
    return {name: ids[reference] for name, reference in images.items()}


def _git(root: Path, *arguments: str) -> str | None:
    said = run_command(["git", "-C", str(root), *arguments])
    return None if said is None else said.strip()
