"""In what the manifests of two runs differ: pure functions over the content of `manifest.json`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lab.spec import without_ends

Json = Mapping[str, Any]

OF_ONE_RUN = {
    "format", "version", "experiment", "seed", "order", "attempt", "started", "finished", "stopped", "command",
    "durations_s", "migrated",
}  # fmt: skip
SURROUNDINGS = ("machine", "versions", "images", "git", "calibration")
"""What a run found or was given: the same design may be run with others."""
OF_THE_MOMENT = {
    "memory_available_bytes", "disk_free_bytes", "steal_fraction", "busy_fraction", "load_average_1m",
    "clock_synchronized",
}  # fmt: skip
"""What changes on one machine from one minute to the next."""
WORDING = ("title", "question")


@dataclass(frozen=True)
class Difference:
    """A field that differs between two manifests, by its path; `Missing` is the value of a manifest without it."""

    path: str
    one: Any
    other: Any


class Missing:
    """The value of a field that a manifest does not have."""

    def __repr__(self) -> str:
        return "missing"


MISSING = Missing()


def of_designs(one: Json, other: Json) -> list[Difference]:
    """Return in what two designs differ: nothing if the runs repeat each other.

    The design is the experiment and what its target adds, such as topologies, without the seed, what ends a run, and
    the words of title and question.
    """
    return list(_differences(_design(one), _design(other)))


def of_surroundings(one: Json, other: Json) -> list[Difference]:
    """Return in what machine, versions, images, commit and calibrated load of two runs differ."""
    return list(_differences(_surroundings(one), _surroundings(other)))


def of_manifests(one: Json, other: Json) -> list[Difference]:
    """Return all differences between two runs but their seeds and times: first those of the experiments."""
    return [*_differences(_experiment(one), _experiment(other)), *of_surroundings(one, other)]


def _design(manifest: Json) -> dict[str, Any]:
    found = _experiment(manifest)
    return {**found, "spec": without_ends({name: of for name, of in found["spec"].items() if name not in WORDING})}


def _experiment(manifest: Json) -> dict[str, Any]:
    """Return the experiment as run, without its seed, and what its target adds."""
    # Recorded only where it is off.
    protocol = {
        "placebo": True,
        **{name: value for name, value in manifest["spec"]["protocol"].items() if name != "seed"},
    }
    # `topology` is one of the `topologies` once more.
    left_out = {*OF_ONE_RUN, *SURROUNDINGS, *(["topology"] if "topologies" in manifest else [])}
    added = {name: value for name, value in manifest.items() if name not in left_out}
    return {**added, "spec": {**manifest["spec"], "protocol": protocol}}


def _surroundings(manifest: Json) -> dict[str, Any]:
    found = {name: manifest.get(name) or {} for name in SURROUNDINGS}
    machine = {name: value for name, value in found["machine"].items() if name not in OF_THE_MOMENT}
    return {**found, "machine": machine}


def _differences(one: Json, other: Json, above: str = "") -> Iterator[Difference]:
    for name in {**one, **other}:
        path = f"{above}{name}"
        first, second = one.get(name, MISSING), other.get(name, MISSING)
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            yield from _differences(first, second, f"{path}.")
        # A field that is newer than one of the records was off in it. Of a level, only what the file says is recorded.
        elif first != second and (
            path.startswith("spec.factors.") or any(of[name] for of in (one, other) if name in of)
        ):
            yield Difference(path, first, second)
