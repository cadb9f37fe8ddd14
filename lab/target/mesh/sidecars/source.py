"""What the folder envoy/ holds: parts of a configuration, and patterns that are laid over them (envoy/README.md)."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from lab.spec import Shape, SpecError, dotted, named_files, parse_yaml, read_text, user_error, validate
from lab.target.mesh.sidecars.nodes import ProtocolName

Part = Mapping[str, Any]
ModeName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
# Sets that Envoy writes as text with commas: two of them are joined.
SETS = frozenset({"retry_on"})


class Spots(Shape):
    """What is added for each place that a proxy sends requests to, in Envoy's own words."""

    virtual_host: Part = Field(default_factory=dict, description="to the peer's virtual host")
    route: Part = Field(default_factory=dict, description="to the route's action")
    cluster: Part = Field(default_factory=dict, description="to the cluster")


class Pattern(Spots):
    """One file of envoy/patterns/."""

    title: str = Field(min_length=1, max_length=120, description="shown in tables' legends")
    place: Literal["caller", "service", "every"] = Field(
        description="whose proxy does it: the caller's, the one that guards the service, or every one"
    )
    modes: list[ModeName] = Field(default_factory=list, description="names of modes that include this pattern")
    http_filters: Mapping[str, Part] = Field(
        default_factory=dict, description="filters before the router: each one's settings by its name"
    )
    runtime: Part = Field(default_factory=dict, description="runtime values from the start")
    rest: Spots = Field(default=Spots(), description="what is added for REST only")
    grpc: Spots = Field(default=Spots(), description="what is added for gRPC only")

    def added(self, protocol: ProtocolName) -> dict[str, Any]:
        """Everything that the pattern adds for one protocol, by spot."""
        common = self.model_dump(include={"virtual_host", "route", "cluster", "http_filters", "runtime"})
        return merged(common, (self.rest if protocol == "rest" else self.grpc).model_dump())


@dataclass(frozen=True)
class Source:
    """The folder's content. `patterns` by name, in order of name."""

    bootstrap: Part
    inbound: Part
    outbound: Part
    protocols: Mapping[str, Part]
    faults: Pattern
    patterns: Mapping[str, Pattern]


def load(folder: Path) -> Source:
    """Read the folder envoy/. Raises `UserError` for a pattern that is not one."""
    return Source(
        bootstrap=_part(folder / "bootstrap.yaml"),
        inbound=_part(folder / "inbound.yaml"),
        outbound=_part(folder / "outbound.yaml"),
        protocols=_part(folder / "protocols.yaml"),
        faults=_pattern(folder / "faults.yaml"),
        patterns={name: _pattern(path) for name, path in named_files(folder / "patterns").items()},
    )


def added(patterns: Iterable[Pattern], protocol: ProtocolName) -> dict[str, Any]:
    """Everything that several patterns add for one protocol, by spot."""
    total: dict[str, Any] = {spot: {} for spot in ("virtual_host", "route", "cluster", "http_filters", "runtime")}
    for pattern in patterns:
        total = merged(total, pattern.added(protocol))
    return total


def _part(path: Path) -> Part:
    part = parse_yaml(read_text(path))
    assert isinstance(part, dict)
    return part


def _pattern(path: Path) -> Pattern:
    try:
        return validate(Pattern, parse_yaml(read_text(path)))
    except SpecError as error:
        raise user_error(str(path), error.problems, dotted, "envoy/README.md describes patterns") from None


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A new mapping: `base` with `over` laid over it."""
    result = copy.deepcopy(dict(base))
    for key, value in over.items():
        below: Any = result.get(key)
        if isinstance(below, dict) and isinstance(value, Mapping):
            result[key] = merged(below, value)
        elif key in SETS and key in result:
            result[key] = ",".join(dict.fromkeys([*below.split(","), *value.split(",")]))
        else:
            result[key] = copy.deepcopy(value)
    return result


def conflicts(one: Mapping[str, Any], other: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The paths (`cluster.connect_timeout`) that both mappings set, each to something else."""
    for key in (key for key in one if key in other):
        mine, theirs = one[key], other[key]
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            yield from conflicts(mine, theirs, f"{above}{key}.")
        elif key not in SETS and mine != theirs:
            yield above + key
