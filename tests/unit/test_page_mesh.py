"""What a mesh says of itself to the page: its picture, its switches, and the guard of its Envoys."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from lab.command import paths
from lab.command.choice import chosen
from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.errors import UserError
from lab.spec.example import Counted, Picture
from lab.target.guarded import CHANGES, as_measured, guarded
from lab.target.mesh.sidecars import ADMIN_PORT
from tests.fake import FakeDriver
from tests.labs import LAB, MESH, level
from tests.page_fakes import running_system

TOPOLOGIES = sorted(path.stem for path in (paths.EXPERIMENTS / "topologies").glob("*.yaml"))
EXAMPLE = MESH.declaration.example


def picture(*overrides: str) -> Picture:
    return EXAMPLE.picture(chosen(LAB, "mesh", overrides, None).baseline_level())


# --- the picture ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sidecar", ["none", "passthrough"])
@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_every_box_has_a_place_of_its_own_and_every_arrow_two_boxes(topology: str, sidecar: str) -> None:
    drawn = picture(f"topology={topology}", f"sidecar={sidecar}")
    names = [node.id for node in drawn.nodes]
    assert len(set(names)) == len(names)
    assert len({(node.x, node.y) for node in drawn.nodes}) == len(names)
    assert all(0 <= node.x <= 1 and 0 <= node.y <= 1 for node in drawn.nodes)
    assert {end for edge in drawn.edges for end in (edge.source, edge.target)} == set(names)
    assert len({(edge.source, edge.target) for edge in drawn.edges}) == len(drawn.edges)


def test_arrows_are_the_calls_of_the_topology() -> None:
    drawn = picture("topology=duo")
    assert {(edge.source, edge.target) for edge in drawn.edges} >= {
        ("client", "gateway"),
        ("gateway", "a1"),
        ("a1", "a2"),
    }
    assert [edge.generated for edge in drawn.edges if edge.source == "client"] == [True]
    assert (drawn.backend, drawn.entry) == ("jaeger", "gateway")
    assert picture("telemetry=baseline").backend == ""


def test_a_sidecar_is_between_callers_and_its_service_and_counts() -> None:
    edges = {(edge.source, edge.target): edge for edge in picture("topology=duo", "sidecar=passthrough").edges}
    assert ("gateway", "a1-envoy") in edges
    assert ("gateway", "a1") not in edges
    assert edges["a1-envoy", "a1"].counted == Counted("a1", ADMIN_PORT, "cluster.inbound.", statuses=True)
    assert edges["gateway", "a1-envoy"].traced == ("gateway", "a1")
    assert edges["gateway", "a1-envoy"].counted is None


def test_where_calls_leave_through_envoy_it_counts_them() -> None:
    drawn = picture("topology=chain", "sidecar=passthrough", "factors.level.up.sidecar_side=both")
    edges = {(edge.source, edge.target): edge for edge in drawn.edges}
    # Errors of gRPC have no status of their own.
    assert edges["s1", "s2-envoy"].counted == Counted("s1", ADMIN_PORT, "cluster.outbound-s2.", statuses=False)


# --- the switches -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_settings_survive_their_words(topology: str) -> None:
    switches = EXAMPLE.switches
    wanted = {"telemetry": "zipkin", "sampling": "0.5", "topology": topology, "sidecar": "retries", "load": "5"}
    assert switches.read(chosen(LAB, "mesh", switches.words(wanted), None)) == wanted


def test_every_value_of_every_control_can_be_chosen() -> None:
    switches = EXAMPLE.switches
    settings = switches.read(chosen(LAB, "mesh", [], None))
    listed = {control.name: control.values for control in switches.controls(settings)}
    assert all(settings[name] in values for name, values in listed.items())
    # The first value of each, then the second of each: parsing takes tenths of a second.
    for values in itertools.zip_longest(*listed.values()):
        wanted = {name: value or settings[name] for name, value in zip(listed, values, strict=True)}
        assert switches.read(chosen(LAB, "mesh", switches.words(wanted), None)) == wanted


def test_a_value_that_was_typed_is_among_those_of_its_control() -> None:
    settings = EXAMPLE.switches.read(chosen(LAB, "mesh", ["users=7"], None))
    (load,) = [control for control in EXAMPLE.switches.controls(settings) if control.name == "load"]
    assert "7" in load.values


def test_no_fault_can_be_requested_by_name() -> None:
    assert chosen(LAB, "mesh", [], "none") == chosen(LAB, "mesh", [], None)


def test_a_load_of_another_topology_is_a_mistake() -> None:
    with pytest.raises(UserError, match="requests_per_s"):
        chosen(LAB, "mesh", ["topology=duo", "requests_per_s=5"], None)


@pytest.mark.parametrize("kind", [kind for kind in LAB.targets if kind != "mesh"])
def test_other_targets_have_no_controls(kind: str) -> None:
    example = LAB.targets[kind].declaration.example
    assert list(example.switches.controls({})) == []
    assert example.picture(level("x")) == Picture()


# --- the guard --------------------------------------------------------------------------------------------------------

PLAIN = json.dumps(
    {
        "admin": {"address": {"socket_address": {"address": "0.0.0.0", "port_value": ADMIN_PORT}}},
        "static_resources": {"listeners": [{"name": "inbound"}], "clusters": [{"name": "inbound"}]},
    }
)


def test_the_administration_page_is_behind_the_guard() -> None:
    made = json.loads(guarded({"a1.json": PLAIN}, paths.ROOT)["a1.json"])
    inside = made["admin"]["address"]["socket_address"]
    assert inside["address"] == "127.0.0.1"
    listener = made["static_resources"]["listeners"][-1]
    assert listener["address"]["socket_address"] == {"address": "0.0.0.0", "port_value": ADMIN_PORT}
    cluster = made["static_resources"]["clusters"][-1]
    (endpoint,) = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"]
    assert endpoint["endpoint"]["address"]["socket_address"] == inside
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    (host,) = manager["route_config"]["virtual_hosts"]
    assert host["domains"] == ["127.0.0.1", "localhost"]
    reads, changes, others = host["routes"]
    assert reads["match"]["headers"] == [{"name": ":method", "string_match": {"exact": "GET"}}]
    assert [header["name"] for header in changes["match"]["headers"]] == list(CHANGES)
    assert others["direct_response"]["status"] == 403
    assert [item["name"] for item in made["static_resources"]["listeners"]] == ["inbound", "guard"]


@pytest.mark.parametrize("keeps", [True, False])
def test_only_what_runs_is_guarded(keeps: bool, tmp_path: Path) -> None:
    driver = FakeDriver()
    place = Place(paths.ROOT, CpuSplit((0,), (0,)), driver, driver.clock, paths.JOURNAL, keeps=keeps)
    system = MESH.deployment(level("x", "baseline", "duo", sidecar="passthrough"), place, tmp_path / "out")
    system.deploy({}, ())
    made: Any = json.loads((tmp_path / "out/envoy/a1.json").read_text())
    assert ("guard" in [item["name"] for item in made["static_resources"]["listeners"]]) == keeps
    assert as_measured({"a1.json": PLAIN}, paths.ROOT) == {"a1.json": PLAIN}


def test_a_record_says_what_to_draw() -> None:
    assert running_system("topology=duo").spec["target"] == {"kind": "mesh", "topology": "duo"}
