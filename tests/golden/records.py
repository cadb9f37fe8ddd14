"""The golden files, and what the current code computes in their place.

A golden record is a JSON value. `CURRENT` has a function for each, which computes the value anew.
"""

import hashlib
import io
import json
import lzma
import tarfile
import tempfile
from collections.abc import Callable, Container, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from tests.golden import adapter
from tests.golden.allowed import Row, compared, expected
from tests.golden.compare import differences

Json = Any

FOLDER = Path(__file__).parent / "f411f24"
ARCHIVE = FOLDER / "runs.tar.xz"
SUMS = FOLDER / "SHA256SUMS"
EXPERIMENTS = FOLDER / "experiments"
# Runs on real containers: one level after the other, side by side, and with sidecars and a fault.
REAL = ("in-turn", "at-once", "sidecars")
# Made-up ones: an analysed run, and a trial for each branch of each check.
MADE_UP, CASES = "made-up", "cases"
RUNS = (MADE_UP, *REAL)
# The command waits for nothing but its own work; more would not be faster.
COMPOSE_COMMANDS = 2


def golden(record: str) -> Json:
    """Return a golden record."""
    return json.loads(lzma.decompress((FOLDER / f"{record}.json.xz").read_bytes()))


def write_golden(record: str, data: Json) -> None:
    """Write a golden record."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).encode()
    (FOLDER / f"{record}.json.xz").write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))


def pack(folder: Path) -> None:
    """Pack the results folders in a folder, without owners and times; together, because they are alike."""

    def bare(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        return entry

    of_text = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0}]
    with (
        lzma.open(ARCHIVE, "wb", filters=of_text) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for name in (*RUNS, CASES):
            for path in sorted((folder / name).rglob("*")):
                tar.add(path, path.relative_to(folder), recursive=False, filter=bare)


@cache
def _archive() -> bytes:
    return lzma.decompress(ARCHIVE.read_bytes())


def _opened() -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BytesIO(_archive()))


@cache
def _extracted(name: str) -> "tempfile.TemporaryDirectory[str]":
    """Hold a recorded results folder as it was recorded. It is only read."""
    made = tempfile.TemporaryDirectory()
    with _opened() as tar:
        own = [member for member in tar if member.name.startswith(f"{name}/")]
        tar.extractall(made.name, own, filter="data")
    return made


@contextmanager
def unpacked(name: str) -> Iterator[Path]:
    """Give a copy of a recorded results folder, as the lab reads it now."""
    with adapter.run_folder(Path(_extracted(name).name) / name) as ready:
        yield ready


def recorded_summary(name: str) -> Json:
    """Return the summary that the code at f411f24 wrote of a recorded run, with its claims."""
    with _opened() as tar:
        found = {}
        for part in ("summary", "claims"):
            member = tar.extractfile(f"{name}/{part}.json")
            assert member is not None
            found[part] = json.loads(member.read())
    return found


def sums() -> str:
    """Return a line for each golden file, as `sha256sum` writes it."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(FOLDER).as_posix()}\n"
        for path in paths
        if path != SUMS
    )


def plain(data: Json) -> Json:
    """Return a value as JSON gives it back."""
    return json.loads(json.dumps(data, allow_nan=False))


# --- what the code says now -------------------------------------------------------------------------------------------
def _experiments() -> dict[str, Path]:
    """Return the golden experiments, and those of `experiments/` that are recorded."""
    own = {f"golden {path.stem}": path for path in sorted(EXPERIMENTS.glob("*.yaml"))}
    return {**adapter.experiments(), **own}


def plans() -> Json:
    """Return the order and the seeds of every experiment."""
    return plain({name: adapter.plan_of(path) for name, path in _experiments().items()})


def deployments(names: Container[str] | None = None) -> Json:
    """Return what the driver is given for every start of every experiment, or of the named ones, in each way."""
    return plain(
        {
            name: {way: adapter.deployments_of(path, way) for way in adapter.ways(path)}
            for name, path in _experiments().items()
            if names is None or name in names
        }
    )


def compose() -> Json:
    """Return the Compose configuration of every start of the recorded experiments, in each way, and its files."""
    return resolved(deployments(golden("compose")["starts"]))


def resolved(found: Json) -> Json:
    """Return deployments as `docker compose` resolves them, each service and text once, by its hash."""
    parts: dict[str, Json] = {}

    def part(data: Json) -> str:
        name = hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]
        parts[name] = data
        return name

    inputs = {_key(given): given for ways in found.values() for starts in ways.values() for given in starts.values()}
    with ThreadPoolExecutor(COMPOSE_COMMANDS) as pool:
        configurations = dict(zip(inputs, pool.map(adapter.resolved, inputs.values()), strict=True))

    def shared(given: Json) -> Json:
        configuration = configurations[_key(given)]
        services = {name: part(service) for name, service in configuration["services"].items()}
        files = {path: part(text) for path, text in given["files"].items()}
        return {**configuration, "services": services, "files": files}

    starts = {
        name: {way: {start: shared(given) for start, given in starts.items()} for way, starts in ways.items()}
        for name, ways in found.items()
    }
    return {"starts": starts, "parts": parts}


def expanded(data: Json) -> Json:
    """Return a Compose record with every service and file in its place."""
    parts = data["parts"]
    return {
        name: {
            way: {
                start: {
                    **given,
                    "services": {service: parts[key] for service, key in given["services"].items()},
                    "files": {path: parts[key] for path, key in given["files"].items()},
                }
                for start, given in starts.items()
            }
            for way, starts in ways.items()
        }
        for name, ways in data["starts"].items()
    }


def _key(given: Json) -> str:
    return json.dumps({name: value for name, value in given.items() if name != "files"}, sort_keys=True)


def trials() -> Json:
    """Return of every recorded trial why it is rejected, and what it measures where it is not."""
    found = {}
    for name in (*RUNS, CASES):
        with unpacked(name) as folder:
            found[name] = {path.name: _judged(path) for path in adapter.trials(folder)}
    return plain(found)


def _judged(folder: Path) -> Json:
    reasons = adapter.judge_trial(folder)
    return {"reasons": reasons, "values": {} if reasons else adapter.values(folder)}


def summaries() -> Json:
    """Return of every recorded run its summary, and the verdicts on its claims, computed anew."""
    found = {}
    for name in RUNS:
        with unpacked(name) as folder:
            found[name] = {"summary": adapter.analyse_run(folder), "claims": adapter.judge_claims(folder)}
    return plain(found)


def claims() -> Json:
    """Return the verdicts on the claims of every kept result, from its summary."""
    return plain({name: adapter.judge_claims(folder) for name, folder in adapter.kept_results().items()})


CURRENT: Mapping[str, Callable[[], Json]] = {
    "plans": cache(plans),
    "compose": cache(lambda: expanded(compose())),
    "trials": cache(trials),
    "summaries": cache(summaries),
    "claims": cache(claims),
}


# A new experiment or a new kept result is no change.
GROWING = frozenset({"plans", "claims"})


def recorded(record: str) -> Json:
    """Return a golden record as `CURRENT` gives it.

    Two versions of `docker compose` write one configuration in different words: where the one here is not the one of
    the record, the recorded deployments are resolved by the one here.
    """
    if record == "summaries":
        return {name: recorded_summary(name) for name in RUNS}
    if record == "compose":
        data = golden(record)
        if data["version"] != adapter.compose_version():
            data = resolved(golden("deployments"))
        return expanded(data)
    return golden(record)


@cache
def current(record: str) -> tuple[Json, set[Row]]:
    """Return what the code says now without what may be new, and the allowances that applied."""
    return compared(record, CURRENT[record]())


def changes(record: str, old: Json) -> tuple[list[str], set[Row]]:
    """Return how the current code differs from `old`, a golden record, and the allowances that applied."""
    wanted, renamed = expected(record, old)
    found, added = current(record)
    if record in GROWING:
        found = {name: value for name, value in found.items() if name in wanted}
    return list(differences(wanted, found, record)), renamed | added
