"""What sidecars add to the Compose overlay, by service."""

from pathlib import Path

from lab.target.mesh.sidecars.configuration import Side
from lab.target.mesh.sidecars.nodes import MOVED_PORTS, Node

ADMIN_PORT = 9901
OUTBOUND = "127.0.0.1:15001"
# Variables that move a service to 127.0.0.1 and another port, where only its sidecar reaches it.
MOVES = {
    "rest": {"SERVER_ADDRESS": "127.0.0.1", "SERVER_PORT": str(MOVED_PORTS["rest"])},
    "grpc": {"GRPC_ADDRESS": "127.0.0.1", "GRPC_PORT": str(MOVED_PORTS["grpc"])},
}


def sidecar(node: str) -> str:
    """The Compose service that is a node's sidecar."""
    return f"{node}-envoy"


def overlay(node: Node, side: Side, root: Path) -> dict[str, dict[str, object]]:
    """What is added to a node's own Compose service, and its sidecar's; `root` is the folder of compose.yaml.

    The node owns the network namespace, so it is the node that publishes Envoy's administration page, at a port that
    the engine chooses. It has to be started first, and its sidecar again whenever it was started again.
    """
    leads_out = {"PEER_PROXY": OUTBOUND} if side == "both" and node.peers else {}
    return {
        node.name: {
            "environment": {**MOVES[node.protocol], **leads_out},
            "ports": [f"127.0.0.1::{ADMIN_PORT}"],
        },
        sidecar(node.name): {
            "extends": {"file": str(root / "compose.yaml"), "service": "envoy"},
            "profiles": ["envoy"],
            "network_mode": f"service:{node.name}",
            "volumes": [f"${{TRIAL_DIR}}/envoy/{node.name}.json:/etc/envoy/envoy.json:ro"],
        },
    }
