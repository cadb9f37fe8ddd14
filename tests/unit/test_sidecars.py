"""From a level's `sidecar` to Envoy's configuration and to Compose: what each mode means, and where it goes."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.command import paths
from lab.errors import UserError
from lab.spec.problems import SpecError
from lab.target.mesh.sidecars import Mode, Node, Side, configuration, files, load, nodes, overlay, parse_mode
from lab.target.mesh.sidecars.configuration import OUTBOUND
from lab.target.mesh.sidecars.modes import named_sets
from lab.target.mesh.sidecars.source import conflicts, merged
from lab.target.mesh.topology import load_topology

SOURCE = load(paths.ROOT / "envoy")
PUBLISHED = yaml.safe_load((Path(__file__).parents[1] / "fixtures/sidecars/published.yaml").read_text())
ENTRY = Node("s1", "grpc", entry=True, peers={"s2": "grpc", "a1": "rest"})
INNER = Node("s2", "grpc", entry=False, peers={"s3": "grpc"})
REST = Node("a1", "rest", entry=True, peers={})


def made(node: Node, mode: str, side: Side = "front", faults: bool = False) -> dict[str, Any]:
    return configuration(SOURCE, node, parse_mode(mode, SOURCE.patterns), side, faults)


def cluster(made: dict[str, Any], name: str = "inbound") -> dict[str, Any]:
    found: dict[str, Any] = next(item for item in made["static_resources"]["clusters"] if item["name"] == name)
    return found


def manager(made: dict[str, Any], listener: str = "inbound") -> dict[str, Any]:
    found = next(item for item in made["static_resources"]["listeners"] if item["name"] == listener)
    settings: dict[str, Any] = found["filter_chains"][0]["filters"][0]["typed_config"]
    return settings


def host(made: dict[str, Any], name: str = "inbound") -> dict[str, Any]:
    hosts = manager(made, name.partition("-")[0])["route_config"]["virtual_hosts"]
    found: dict[str, Any] = next(item for item in hosts if item["name"] == name)
    return found


def route(made: dict[str, Any], name: str = "inbound") -> dict[str, Any]:
    action: dict[str, Any] = host(made, name)["routes"][0]["route"]
    return action


def filters(made: dict[str, Any]) -> list[str]:
    return [item["name"].rpartition(".")[2] for item in manager(made)["http_filters"]]


# --- what a level's text means ---


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("none", Mode(False)),
        ("passthrough", Mode(True)),
        ("retries", Mode(True, ("retries",))),
        ("timeouts+retries", Mode(True, ("retries", "timeouts"))),
        ("published", Mode(True, ("breakers", "retries"))),
        ("in-force", Mode(True, ("breakers-default", "retries"))),
        ("published+timeouts", Mode(True, ("breakers", "retries", "timeouts"))),
        ("all", Mode(True, ("breakers-default", "hedging", "outliers", "rate-limit", "retries", "timeouts"))),
    ],
)
def test_a_mode_is_patterns_by_name(text: str, mode: Mode) -> None:
    assert parse_mode(text, SOURCE.patterns) == mode


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("retrys", "unknown sidecar mode 'retrys'; did you mean 'retries'?"),
        ("retries+braekers", "unknown sidecar mode 'braekers'; did you mean 'breakers'?"),
        ("pasthrough", "did you mean 'passthrough'?"),
        ("retries+", "unknown sidecar mode ''"),
        ("", "unknown sidecar mode ''"),
        ("passthrough+retries", "'passthrough' means no pattern and cannot be joined with others"),
        ("none+none", "'none' means no pattern and cannot be joined"),
        ("breakers+breakers-default", "'breakers' and 'breakers-default' contradict each other"),
        ("published+in-force", "each sets cluster.circuit_breakers.thresholds; choose one of them"),
        ("retries-budget+breakers-tight", "'breakers-tight' and 'retries-budget' contradict each other"),
    ],
)
def test_a_wrong_mode_is_named_with_the_nearest_right_one(text: str, said: str) -> None:
    with pytest.raises(SpecError) as wrong:
        parse_mode(text, SOURCE.patterns)
    assert said in str(wrong.value)


def test_no_pattern_is_called_like_a_set_of_them() -> None:
    sets = named_sets(SOURCE.patterns)
    assert sets.keys() == {"published", "in-force", "all"}
    assert not sets.keys() & SOURCE.patterns.keys()


def test_a_new_pattern_is_one_file(tmp_path: Path) -> None:
    for path in (paths.ROOT / "envoy").rglob("*.yaml"):
        copy = tmp_path / path.relative_to(paths.ROOT / "envoy")
        copy.parent.mkdir(exist_ok=True)
        copy.write_text(path.read_text())
    (tmp_path / "patterns/patience.yaml").write_text(
        "title: Patience\nplace: caller\nmodes: [all]\nruntime: {a.b: 1}\n"
        "virtual_host: {retry_policy: {num_retries: 1}}\n"
    )
    source = load(tmp_path)
    assert "patience" in parse_mode("all", source.patterns).patterns
    made = configuration(source, ENTRY, parse_mode("patience", source.patterns))
    assert host(made)["retry_policy"] == {"num_retries": 1}
    assert made["layered_runtime"]["layers"][0] == {"name": "static", "static_layer": {"a.b": 1}}
    assert made["layered_runtime"]["layers"][1] == {"name": "admin", "admin_layer": {}}


def test_a_pattern_with_a_wrong_key_is_named(tmp_path: Path) -> None:
    for path in (paths.ROOT / "envoy").glob("*.yaml"):
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "patterns").mkdir()
    (tmp_path / "patterns/odd.yaml").write_text("title: Odd\nplace: caller\nclutser: {}\n")
    with pytest.raises(UserError, match=r"odd\.yaml: clutser: unknown key; did you mean 'cluster'\?"):
        load(tmp_path)


# --- as published ---


def test_the_published_mode_is_what_the_thesis_prints() -> None:
    theirs = PUBLISHED["static_resources"]
    their_host = theirs["listeners"][0]["filter_chains"][0]["filters"][0]["config"]["route_config"]["virtual_hosts"][0]
    their_route, their_cluster = their_host["routes"][0], theirs["clusters"][0]
    ours = made(INNER, "published")
    assert host(ours)["domains"] == their_host["domains"]
    assert host(ours)["routes"][0]["match"] == their_route["match"]
    assert route(ours)["retry_policy"] == their_route["route"]["retry_policy"]
    # Printed without the list that the field is.
    assert cluster(ours)["circuit_breakers"]["thresholds"] == [their_cluster["circuit_breakers"]["thresholds"]]
    for key in ("connect_timeout", "lb_policy"):
        assert cluster(ours)[key] == their_cluster[key]
    # Nothing else is set that would change what the published one does by default.
    assert route(ours).keys() == {"cluster", "retry_policy"}
    assert filters(ours) == ["router"]
    on_the_way_out = cluster(made(INNER, "published", "both"), "outbound-s3")
    for key in ("connect_timeout", "lb_policy"):
        assert on_the_way_out[key] == their_cluster[key]
    names = on_the_way_out["cluster_type"]["typed_config"]
    assert names["dns_lookup_family"] == their_cluster["dns_lookup_family"]
    assert names["all_addresses_in_single_endpoint"] is (their_cluster["type"] == "LOGICAL_DNS")


def test_in_force_differs_from_published_in_the_priority_alone() -> None:
    published, in_force = made(INNER, "published"), made(INNER, "in-force")
    assert cluster(in_force)["circuit_breakers"]["thresholds"][0].pop("priority") == "DEFAULT"
    assert cluster(published)["circuit_breakers"]["thresholds"][0].pop("priority") == "HIGH"
    assert in_force == published


def test_rest_retries_what_grpc_calls_internal() -> None:
    assert route(made(REST, "retries"))["retry_policy"] == {"num_retries": 10, "retry_on": "5xx"}


# --- where a proxy listens, and where it leads ---


@pytest.mark.parametrize(("node", "port", "moved"), [(INNER, 9090, 9091), (REST, 8080, 8081)])
def test_in_front_it_listens_where_the_service_was(node: Node, port: int, moved: int) -> None:
    plain = made(node, "passthrough")
    listener, only = plain["static_resources"]["listeners"], plain["static_resources"]["clusters"]
    assert [item["address"]["socket_address"]["port_value"] for item in listener] == [port]
    assert [item["name"] for item in only] == ["inbound"]
    assert addresses(only[0]) == [("127.0.0.1", moved)]


def addresses(cluster: dict[str, Any]) -> list[tuple[str, int]]:
    found = [
        host["endpoint"]["address"]["socket_address"]
        for locality in cluster["load_assignment"]["endpoints"]
        for host in locality["lb_endpoints"]
    ]
    return [(address["address"], address["port_value"]) for address in found]


def test_on_the_way_out_the_authority_says_which_peer() -> None:
    plain = made(ENTRY, "passthrough", "both")
    assert host(plain, "outbound-s2")["domains"] == ["s2.internal", "s2.internal:9090"]
    assert route(plain, "outbound-s2") == {"cluster": "outbound-s2"}
    assert addresses(cluster(plain, "outbound-s2")) == [("s2.internal", 9090)]
    assert addresses(cluster(plain, "outbound-a1")) == [("a1.internal", 8080)]
    assert host(plain, "outbound-s2")["routes"][0]["match"] == {"prefix": "/", "grpc": {}}
    assert host(plain, "outbound-a1")["routes"][0]["match"] == {"prefix": "/"}
    out = plain["static_resources"]["listeners"][1]["address"]["socket_address"]
    assert f"{out['address']}:{out['port_value']}" == OUTBOUND


def test_who_calls_nobody_has_no_way_out() -> None:
    assert made(REST, "all", "both") == made(REST, "all", "front")


# --- each hop has each pattern once ---


def test_in_front_everything_is_done_there() -> None:
    everything = made(INNER, "all", faults=True)
    assert filters(everything) == ["fault", "local_ratelimit", "router"]
    assert route(everything)["timeout"] == "1s"
    assert cluster(everything).keys() >= {"circuit_breakers", "outlier_detection"}


def test_on_both_sides_the_caller_retries_and_the_service_limits() -> None:
    everything = made(INNER, "all", "both", faults=True)
    assert route(everything) == {"cluster": "inbound"}
    assert "outlier_detection" not in cluster(everything)
    assert filters(everything) == ["fault", "local_ratelimit", "router"]
    assert route(everything, "outbound-s3").keys() == {"cluster", "timeout", "retry_policy", "hedge_policy"}
    assert "outlier_detection" in cluster(everything, "outbound-s3")
    assert [item["name"] for item in manager(everything, "outbound")["http_filters"]] == ["envoy.filters.http.router"]
    # Its thresholds count retries where these are made, and requests where they arrive.
    assert "circuit_breakers" in cluster(everything)
    assert "circuit_breakers" in cluster(everything, "outbound-s3")


def test_the_client_has_no_proxy_so_the_entry_retries_for_it() -> None:
    assert "retry_policy" in route(made(ENTRY, "retries", "both"))
    assert "retry_policy" not in route(made(INNER, "retries", "both"))


@pytest.mark.parametrize("mode", ["passthrough", "retries"])
def test_one_proxy_of_a_hop_names_the_attempt(mode: str) -> None:
    """The second would set the header to 1 again, and the service would take a retry for a first attempt."""
    key = "include_request_attempt_count"
    assert host(made(INNER, mode, "front"))[key] is True
    assert host(made(INNER, mode, "both"))[key] is False
    assert host(made(INNER, mode, "both"), "outbound-s3")[key] is True
    assert host(made(ENTRY, mode, "both"))[key] is True


def test_faults_are_there_only_on_request() -> None:
    assert filters(made(INNER, "passthrough")) == ["router"]
    assert filters(made(INNER, "passthrough", faults=True)) == ["fault", "router"]


def test_hedging_alone_retries_no_error_and_goes_with_retries() -> None:
    alone = route(made(INNER, "hedging"))["retry_policy"]
    assert alone == {"retry_on": "retriable-status-codes", "per_try_timeout": "0.05s"}
    together = route(made(INNER, "hedging+retries"))["retry_policy"]
    assert together["num_retries"] == 10
    assert set(together["retry_on"].split(",")) == {
        "cancelled", "deadline-exceeded", "internal", "resource-exhausted", "unavailable", "retriable-status-codes",
    }  # fmt: skip


# --- merging ---


def test_mappings_are_laid_over_each_other_and_nothing_is_shared() -> None:
    base: dict[str, Any] = {"a": {"b": 1, "c": [1]}, "retry_on": "x,y"}
    over: dict[str, Any] = {"a": {"c": [2]}, "d": {"e": []}, "retry_on": "y,z"}
    result = merged(base, over)
    assert result == {"a": {"b": 1, "c": [2]}, "d": {"e": []}, "retry_on": "x,y,z"}
    result["d"]["e"].append(1)
    result["a"]["c"].append(3)
    assert (over["d"]["e"], over["a"]["c"], base["a"]["c"]) == ([], [2], [1])


def test_conflicts_are_paths_set_to_something_else() -> None:
    one = {"a": {"b": 1, "c": 2}, "retry_on": "x", "d": {}}
    other = {"a": {"b": 1, "c": 3}, "retry_on": "y", "d": 5}
    assert list(conflicts(one, other)) == ["a.c", "d"]
    assert list(conflicts(one, one)) == []


# --- topology and Compose ---


def test_nodes_know_their_protocol_and_whom_they_call() -> None:
    mesh = nodes(load_topology(paths.ROOT / "experiments" / "topologies" / "mesh.yaml"))
    assert mesh["gateway"].entry
    assert {node.protocol for node in mesh.values()} == {"rest"}
    assert set(mesh["gateway"].peers) == mesh.keys() - {"gateway"}
    assert "a1" not in mesh["a1"].peers
    assert not mesh["a1"].entry


def test_a_trials_folder_gets_one_file_for_each_node() -> None:
    written = files(SOURCE, [ENTRY, INNER], parse_mode("passthrough", SOURCE.patterns))
    assert written.keys() == {"envoy/s1.json", "envoy/s2.json"}
    assert all(yaml.safe_load(text)["admin"] for text in written.values())


def test_compose_moves_the_service_and_puts_envoy_beside_it() -> None:
    added = overlay(ENTRY, "both", Path("/lab"))
    assert added["s1"] == {
        "environment": {"GRPC_ADDRESS": "127.0.0.1", "GRPC_PORT": "9091", "PEER_PROXY": "127.0.0.1:15001"},
        "ports": ["127.0.0.1::9901"],
    }
    assert added["s1-envoy"] == {
        "extends": {"file": "/lab/compose.yaml", "service": "envoy"},
        "profiles": ["envoy"],
        "network_mode": "service:s1",
        "volumes": ["${TRIAL_DIR}/envoy/s1.json:/etc/envoy/envoy.json:ro"],
    }
    assert overlay(REST, "front", Path("/lab"))["a1"]["environment"] == {
        "SERVER_ADDRESS": "127.0.0.1",
        "SERVER_PORT": "8081",
    }
    assert "PEER_PROXY" not in str(overlay(ENTRY, "front", Path("/lab")))
