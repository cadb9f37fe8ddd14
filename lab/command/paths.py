"""Where the lab's files are, and which results folder a command means."""

from pathlib import Path

from lab.engine import ports
from lab.errors import UserError
from lab.record import stored

ROOT = ports.ROOT
RESULTS = ROOT / "results"
SCRATCH = ROOT / ".lab"
EXPERIMENTS = ROOT / "experiments"
CLAIMS = EXPERIMENTS / "claims"
JOURNAL = SCRATCH / "faults.json"
# Of the machine, not of this checkout or user: every checkout's containers have the same names.
LOCK = Path("/tmp/tollbooth.lock")


def results_folder(named: Path | None) -> Path:
    """The results folder to look at: the one named, otherwise the newest of any experiment."""
    if named is not None:
        if not stored(named / "manifest.json"):
            newest = ", ".join(str(path.relative_to(ROOT)) for path in _runs()[-3:]) or "none yet"
            raise UserError(f"{named} is not a results folder (it has no manifest.json)", f"choose one: {newest}")
        return named
    if runs := _runs():
        return max(runs, key=lambda folder: folder.name)
    raise UserError("there are no results yet", "run `make experiment`")


def new_file(path: Path) -> Path:
    """Return the path of a file that a command writes. Raises `UserError` if its folder is not there."""
    if not path.absolute().parent.is_dir():
        raise UserError(f"there is no folder {path.parent}", "name a file in a folder that exists")
    return path


def shown(path: Path) -> str:
    """A path as messages show it: relative to the repository if it is inside."""
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _runs() -> list[Path]:
    return sorted(path.parent for path in RESULTS.glob("*/2*Z/manifest.json"))
