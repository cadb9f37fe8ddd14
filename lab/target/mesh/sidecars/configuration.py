"""One node's Envoy: its configuration, put together from the files of envoy/, and its container. Pure."""

import copy
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lab.target.mesh.sidecars.modes import Mode
from lab.target.mesh.sidecars.nodes import MOVED_PORTS, PORTS, Node, ProtocolName
from lab.target.mesh.sidecars.source import Part, Pattern, Source, added, merged
from lab.target.mesh.topology import DOMAIN

Side = Literal["front", "both"]

ADMIN_PORT = 9901
OUTBOUND = "127.0.0.1:15001"
# Variables that move a service to 127.0.0.1 and another port, where only its sidecar reaches it.
MOVES = {
    "rest": {"SERVER_ADDRESS": "127.0.0.1", "SERVER_PORT": str(MOVED_PORTS["rest"])},
    "grpc": {"GRPC_ADDRESS": "127.0.0.1", "GRPC_PORT": str(MOVED_PORTS["grpc"])},
}


@dataclass(frozen=True)
class _Target:
    """Where a proxy sends requests to: a cluster, and the authorities that lead there."""

    cluster: str
    domains: tuple[str, ...]
    protocol: ProtocolName
    address: str
    port: int


def files(
    source: Source, nodes: Iterable[Node], mode: Mode, side: Side = "front", faults: bool = False
) -> dict[str, str]:
    """The configurations of all nodes: path within a trial's folder -> text."""
    return {
        f"envoy/{node.name}.json": json.dumps(configuration(source, node, mode, side, faults), indent=1) + "\n"
        for node in nodes
    }


def configuration(source: Source, node: Node, mode: Mode, side: Side = "front", faults: bool = False) -> dict[str, Any]:
    """The configuration of one node's Envoy. `side`: in front of the service only, or also on its way out.

    `faults`: runtime values can make Envoy abort and delay requests.
    """
    chosen = [*([source.faults] if faults else []), *(source.patterns[name] for name in mode.patterns)]
    proxies = [_inbound(source, node, chosen, side)]
    if side == "both" and node.peers:
        proxies.append(_outbound(source, node, chosen))
    return merged(
        source.bootstrap,
        {
            "layered_runtime": _runtime(source.bootstrap, chosen),
            "static_resources": {
                key: [item for proxy in proxies for item in proxy[key]] for key in ("listeners", "clusters")
            },
        },
    )


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


def _inbound(source: Source, node: Node, chosen: Sequence[Pattern], side: Side) -> dict[str, list[Any]]:
    """The inbound proxy. It has the caller's patterns if the caller has no proxy: each hop has each pattern once."""
    for_caller = side == "front" or node.entry
    patterns = [pattern for pattern in chosen if for_caller or pattern.place != "caller"]
    target = _Target("inbound", ("*",), node.protocol, "127.0.0.1", MOVED_PORTS[node.protocol])
    proxy = _proxy(source.inbound, source.protocols, [target], patterns, for_caller)
    proxy["listeners"][0]["address"]["socket_address"]["port_value"] = PORTS[node.protocol]
    return proxy


def _outbound(source: Source, node: Node, chosen: Sequence[Pattern]) -> dict[str, list[Any]]:
    patterns = [pattern for pattern in chosen if pattern.place != "service"]
    targets = [
        _Target(f"outbound-{peer}", (host, f"{host}:{PORTS[protocol]}"), protocol, host, PORTS[protocol])
        for peer, protocol in node.peers.items()
        for host in [peer + DOMAIN]
    ]
    return _proxy(source.outbound, source.protocols, targets, patterns, tells_attempt=True)


def _proxy(
    role: Part,
    protocols: Mapping[str, Part],
    targets: Sequence[_Target],
    patterns: Sequence[Pattern],
    tells_attempt: bool,
) -> dict[str, list[Any]]:
    """A listener that routes to `targets`, and their clusters, made from the one of each that the role's file has.

    `tells_attempt`: it sets x-envoy-attempt-count. Only one proxy of a hop may, as a later one would overwrite it.
    """
    listener = copy.deepcopy(role["static_resources"]["listeners"][0])
    cluster = role["static_resources"]["clusters"][0]
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    virtual_host = manager["route_config"]["virtual_hosts"][0] | {"include_request_attempt_count": tells_attempt}
    spots = {target: added(patterns, target.protocol) for target in targets}
    manager["route_config"]["virtual_hosts"] = [
        _virtual_host(virtual_host, target, protocols[target.protocol]["match"], spots[target]) for target in targets
    ]
    filters = {name: settings for pattern in patterns for name, settings in pattern.http_filters.items()}
    manager["http_filters"] = [
        *({"name": name, "typed_config": settings} for name, settings in filters.items()),
        *manager["http_filters"],
    ]
    return {
        "listeners": [listener],
        "clusters": [
            _cluster(merged(cluster, protocols[target.protocol]["cluster"]), target, spots[target])
            for target in targets
        ],
    }


def _virtual_host(template: Part, target: _Target, match: Part, spots: Mapping[str, Part]) -> dict[str, Any]:
    route = template["routes"][0]
    own_route = {
        "match": merged(route["match"], match),
        "route": merged({**route["route"], "cluster": target.cluster}, spots["route"]),
    }
    given = {"name": target.cluster, "domains": list(target.domains), "routes": [own_route]}
    return merged({**template, **given}, spots["virtual_host"])


def _cluster(template: Part, target: _Target, spots: Mapping[str, Part]) -> dict[str, Any]:
    address = {"socket_address": {"address": target.address, "port_value": target.port}}
    given = {
        "name": target.cluster,
        "load_assignment": {
            "cluster_name": target.cluster,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
    }
    return merged({**template, **given}, spots["cluster"])


def _runtime(bootstrap: Part, chosen: Sequence[Pattern]) -> dict[str, Any]:
    values = {key: value for pattern in chosen for key, value in pattern.runtime.items()}
    static, *others = bootstrap["layered_runtime"]["layers"]
    return {"layers": [{**static, "static_layer": {**static["static_layer"], **values}}, *others]}
