"""A topology's nodes as their sidecars see them: which protocol each speaks, and whom it calls."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lab.target.mesh.topology import Gateway, Topology

ProtocolName = Literal["rest", "grpc"]

PROTOCOL_OF_KIND: Mapping[str, ProtocolName] = {"gateway": "rest", "svc-a": "rest", "svc-b": "grpc"}
# Where callers find a service, and where the service listens if a sidecar has that port.
PORTS: Mapping[ProtocolName, int] = {"rest": 8080, "grpc": 9090}
MOVED_PORTS: Mapping[ProtocolName, int] = {"rest": 8081, "grpc": 9091}


@dataclass(frozen=True)
class Node:
    """One node. `entry`: the client sends requests to it. `peers`: the protocol of each node that it calls, by name."""

    name: str
    protocol: ProtocolName
    entry: bool
    peers: Mapping[str, ProtocolName]


def nodes(topology: Topology) -> dict[str, Node]:
    """Every node of a topology by name."""
    protocols = {name: PROTOCOL_OF_KIND[node.kind] for name, node in topology.nodes.items()}
    return {
        name: Node(
            name=name,
            protocol=protocols[name],
            entry=name == topology.entry,
            peers={peer: protocols[peer] for peer in _callees(topology, name)},
        )
        for name in topology.nodes
    }


def _callees(topology: Topology, name: str) -> list[str]:
    node = topology.nodes[name]
    if isinstance(node, Gateway):
        references = list(node.routes.values())
    else:
        references = [to for operation in node.operations.values() for calls in operation.calls for to in calls.to]
    return sorted({reference.partition(".")[0] for reference in references})
