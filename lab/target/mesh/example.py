"""The mesh that `lab up` starts: a light load for each protocol of an entry, and one fault of each kind. Pure."""

from collections.abc import Callable, Collection, Mapping

from lab.fault.kinds import KINDS
from lab.fault.planes import SERVICE
from lab.record import NO_SIDECAR
from lab.spec import Example, Fields
from lab.target.mesh.picture import picture
from lab.target.mesh.settings import MeshLevel
from lab.target.mesh.switches import Choices, switches
from lab.target.mesh.system import Parts
from lab.target.mesh.variants import Variant

# In seconds. Then the fault is lifted.
FAULT_S = 600
# Whatever is requested, services watch their faults' files: a fault then needs no restart.
LEVEL: Fields = {
    "telemetry": "otel-manual",
    "sidecar": NO_SIDECAR,
    # The optimising compiler (C2) would use two cores for minutes, and a start would take longer.
    "environment": {"JAVA_OPTS": "-XX:TieredStopAtLevel=1", "WATCH_FAULTS": "1"},
}
# About two requests a second, and few in flight: a system that a fault slows down gets no more than it answers.
USERS = {"kind": "closed-loop", "users": 2, "think_time_s": [0.9, 1.1]}
COUNTED = {"kind": "counted", "requests": 1_000_000, "requests_per_s": 2, "concurrency": 2}
TIMES = {"repetitions": 1, "warm_up_s": 0}
LOADS: tuple[Fields, ...] = (
    {"load": {"generator": "locust", "schedule": USERS}, "protocol": {**TIMES, "window_s": 3600}},
    {"load": {"generator": "ghz", "schedule": COUNTED}, "protocol": TIMES},
)


def example(
    parts: Callable[[str], Parts],
    variants: Callable[[], Mapping[str, Variant]],
    topologies: Callable[[], Collection[str]],
) -> Example:
    """Return what `lab up` starts. `parts` reads the parts of a mesh with the topology of a name."""
    return Example(
        {"topology": "mesh"},
        LEVEL,
        LOADS,
        lambda level: faults(level, parts),
        switches(parts, Choices(variants, topologies)),
        lambda level: picture(parts(level.settings.topology_name), level.settings),
    )


def faults(level: MeshLevel, parts: Callable[[str], Parts]) -> Mapping[str, Fields]:
    """Return a fault of each kind that a service can have, of the first node that the client does not call itself."""
    graph = parts(level.settings.topology_name).topology
    target = next((name for name in graph.nodes if name != graph.entry), graph.entry)
    possible = [name for name, kind in KINDS.items() if SERVICE in kind.roles]
    return {
        name: {"kind": name, "target": target, "start_s": 0, "length_s": FAULT_S, **_size(name)} for name in possible
    }


def _size(kind: str) -> Fields:
    """Return the size that the kind's model has as its example."""
    field = KINDS[kind].model_fields.get("size")
    return {"size": field.examples[0]} if field and field.examples else {}
