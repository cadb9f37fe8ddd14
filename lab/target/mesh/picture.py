"""A mesh as a graph for the page: who calls whom, where each box is, and how each arrow is measured. Pure."""

from collections.abc import Mapping

from lab.spec.example import Counted, Edge, Node, Picture
from lab.target.mesh.settings import MeshLevelSettings
from lab.target.mesh.sidecars import ADMIN_PORT, nodes
from lab.target.mesh.sidecars import Node as MeshNode
from lab.target.mesh.sidecars.nodes import ProtocolName
from lab.target.mesh.system import Parts
from lab.target.mesh.topology import Gateway
from lab.target.mesh.variants import NO_BACKEND

CLIENT = "client"
# Every other box of a column is moved to the right, so that no arrow passes through a box.
ASIDE = 0.12
BESIDE = 0.06


def picture(parts: Parts, level: MeshLevelSettings) -> Picture:
    """Return a level's picture. A sidecar is a box in front of its service: callers reach the service through it."""
    mesh, sidecars, telemetry = nodes(parts.topology), parts.sidecars(level), parts.telemetry(level)
    places = _places(mesh, parts.topology.entry)
    boxes = [Node(CLIENT, CLIENT, "client", 0.04, 0.5)]
    for name, (x, y) in places.items():
        is_gateway = isinstance(parts.topology.nodes[name], Gateway)
        boxes.append(Node(name, name, "gateway" if is_gateway else "service", x, y))
        if name in sidecars:
            boxes.append(Node(sidecars[name], "Envoy", "sidecar", round(x - BESIDE, 3), y))
    edges = [Edge(CLIENT, sidecars.get(parts.topology.entry, parts.topology.entry), generated=True)]
    for name, node in mesh.items():
        edges += [_call(name, peer, protocol, sidecars, level) for peer, protocol in node.peers.items()]
    edges += [Edge(box, name, counted=_by(name, "inbound", mesh[name].protocol)) for name, box in sidecars.items()]
    return Picture(
        boxes, edges, telemetry.backend if telemetry.backend != NO_BACKEND else "", entry=parts.topology.entry
    )


def _call(
    caller: str, callee: str, protocol: ProtocolName, sidecars: Mapping[str, str], level: MeshLevelSettings
) -> Edge:
    """Return the arrow of a call: counted by the caller's Envoy where calls leave through it, else seen in traces."""
    leaves = caller in sidecars and level.sidecar_side == "both"
    counted = _by(caller, f"outbound-{callee}", protocol) if leaves else None
    return Edge(caller, sidecars.get(callee, callee), counted=counted, traced=(caller, callee))


def _by(node: str, cluster: str, protocol: ProtocolName) -> Counted:
    return Counted(node, ADMIN_PORT, f"cluster.{cluster}.", statuses=protocol == "rest")


def _places(mesh: Mapping[str, MeshNode], entry: str) -> Mapping[str, tuple[float, float]]:
    """Return where each node is: in a column by how many calls it is away from the client, from top to bottom."""
    columns = [[entry]]
    seen = {entry}
    while columns[-1]:
        below = dict.fromkeys(peer for name in columns[-1] for peer in mesh[name].peers if peer not in seen)
        seen |= below.keys()
        columns.append(list(below))
    # What nobody calls is in the last column, which is empty.
    columns[-1] = [name for name in mesh if name not in seen]
    columns = [column for column in columns if column]
    return {
        name: (
            round(0.2 + 0.66 * column / max(1, len(columns) - 1) + (ASIDE if row % 2 else 0), 3),
            round((row + 1) / (len(names) + 1), 3),
        )
        for column, names in enumerate(columns)
        for row, name in enumerate(names)
    }
