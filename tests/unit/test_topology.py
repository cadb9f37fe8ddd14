import random
import re
from pathlib import Path

import pytest
import yaml

from lab.errors import UserError
from lab.spec.problems import SpecError
from lab.spec.yamlfile import find_named_file
from lab.target.mesh.spantree import ExpectedSpan
from lab.target.mesh.topology import Service, Topology, load_topology, parse_topology

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "topologies"
SHIPPED = ROOT / "experiments" / "topologies"
MESH = SHIPPED / "mesh.yaml"
VALID = sorted((FIXTURES / "valid").glob("*.yaml"))
INVALID = sorted((FIXTURES / "invalid").glob("*.yaml"))

HEAD = "format: tollbooth.topology\nversion: 1\nentry: gateway\nnodes:\n"


def topology_of(operations: str) -> Topology:
    return parse_topology(
        f"{HEAD}  gateway: {{kind: gateway, routes: {{go: a1.work}}}}\n"
        f"  a1: {{kind: svc-a, operations: {{{operations}}}}}\n"
        "  a2: {kind: svc-a, operations: {answer: {}}}\n  a3: {kind: svc-a, operations: {answer: {}}}\n"
    )


def call(caller: str, callee: ExpectedSpan) -> ExpectedSpan:
    return ExpectedSpan(caller, "client", ((callee,),))


def count(span: ExpectedSpan) -> int:
    return 1 + sum(count(child) for child in span.children)


def first_comment(path: Path, key: str) -> str:
    found = re.match(rf"# {key}: (.*)\n", path.read_text())
    assert found, f"{path} has no '# {key}:' in its first line"
    return found[1]


def test_the_fixtures_exist() -> None:
    assert len(VALID) >= 5 and len(INVALID) >= 45


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_a_valid_topology_makes_the_calls_that_its_file_states(path: Path) -> None:
    topology = load_topology(path)
    calls = yaml.safe_load(first_comment(path, "calls"))
    assert {route: (topology.expected_spans(route) - 1) / 2 for route in topology.routes()} == calls


@pytest.mark.parametrize("path", INVALID, ids=lambda path: path.stem)
def test_an_invalid_topology_is_rejected_naming_node_and_field(path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load_topology(path)
    first, *_ = caught.value.message.splitlines()
    assert first.startswith(f"{path}: {first_comment(path, 'expect')}")


@pytest.mark.parametrize("path", [*VALID, *SHIPPED.glob("*.yaml")], ids=lambda path: path.stem)
def test_the_tree_has_as_many_spans_as_are_counted(path: Path) -> None:
    topology = load_topology(path)
    for route in topology.routes():
        assert count(topology.expected_tree(route)) == topology.expected_spans(route)


def test_a_request_through_mesh_makes_123_spans_by_every_route() -> None:
    mesh = load_topology(find_named_file("topology", "mesh", SHIPPED))
    assert mesh.routes() == ("a1", "a2", "a3", "a4")
    assert [mesh.expected_spans(route) for route in mesh.routes()] == [123] * 4
    assert mesh.mean_spans_per_request() == 123


@pytest.mark.parametrize("name", ["fan-out", "chain"])
def test_the_published_topologies_are_called_by_grpc_and_make_five_spans(name: str) -> None:
    topology = load_topology(find_named_file("topology", name, SHIPPED))
    assert (topology.entry, topology.entry_protocol, topology.routes()) == ("s1", "grpc", ("work",))
    assert topology.expected_spans("work") == 5
    latencies = [
        operation.latency_ms
        for node in topology.nodes.values()
        if isinstance(node, Service)
        for operation in node.operations.values()
    ]
    assert latencies == [10, 10, 10]


def test_the_tree_of_a_fan_out_has_one_step_and_that_of_a_chain_one_branch() -> None:
    s2, s3 = ExpectedSpan("s2", "server"), ExpectedSpan("s3", "server")
    fan_out = load_topology(find_named_file("topology", "fan-out", SHIPPED)).expected_tree("work")
    assert fan_out == ExpectedSpan("s1", "server", ((call("s1", s2), call("s1", s3)),))
    chain = load_topology(find_named_file("topology", "chain", SHIPPED)).expected_tree("work")
    passing = ExpectedSpan("s2", "server", ((call("s2", s3),),))
    assert chain == ExpectedSpan("s1", "server", ((call("s1", passing),),))


def test_a_gateway_is_called_by_http_whatever_is_behind_it() -> None:
    mixed = load_topology(FIXTURES / "valid" / "mixed.yaml")
    assert (mixed.entry_protocol, mixed.routes()) == ("http", ("rest", "grpc"))


def test_the_routes_of_a_grpc_entry_are_its_operations_in_order() -> None:
    topology = load_topology(FIXTURES / "valid" / "grpc-entry.yaml")
    assert (topology.entry_protocol, topology.routes()) == ("grpc", ("work", "through", "alone"))
    assert topology.expected_tree("alone") == ExpectedSpan("s1", "server")


def test_a_rest_service_is_no_entry() -> None:
    with pytest.raises(SpecError, match=r"nodes\.a1\.entry: is not a gateway or svc-b; .*there are: gateway"):
        parse_topology(MESH.read_text().replace("entry: gateway", "entry: a1"))


def test_the_mean_is_over_routes() -> None:
    assert load_topology(FIXTURES / "valid" / "chain.yaml").mean_spans_per_request() == (15 + 7) / 2


def test_the_tree_of_calls_in_sequence_alternates_over_the_callees() -> None:
    a2, a3 = ExpectedSpan("a2", "server"), ExpectedSpan("a3", "server")
    topology = topology_of("work: {calls: [{to: [a2.answer, a3.answer], times: 3}]}")
    work = ExpectedSpan("a1", "server", ((call("a1", a2),), (call("a1", a3),), (call("a1", a2),)))
    assert topology.expected_tree("go") == ExpectedSpan("gateway", "server", ((call("gateway", work),),))


def test_the_tree_of_parallel_calls_has_one_step() -> None:
    topology = topology_of("work: {calls: [{to: [a2.answer, a3.answer], order: parallel}, {to: [a2.answer]}]}")
    work = topology.expected_tree("go").children[0].children[0]
    assert [len(step) for step in work.steps] == [2, 1]


def test_a_longer_cycle_is_named_in_the_order_of_the_calls() -> None:
    with pytest.raises(SpecError, match=r"a1\.work -> a1\.b -> a1\.c -> a1\.work"):
        topology_of(
            "work: {calls: [{to: [a2.answer, a1.b]}]}, b: {calls: [{to: [a1.c]}]}, c: {calls: [{to: [a1.work]}]}"
        )


def test_a_cycle_that_no_route_reaches_is_rejected_too() -> None:
    with pytest.raises(SpecError, match=r"a1\.b -> a1\.b"):
        topology_of("work: {}, b: {calls: [{to: [a1.b]}]}")


def test_ten_thousand_calls_are_the_most() -> None:
    topology = topology_of("work: {calls: [{to: [a2.answer], times: 9999}]}")
    assert topology.expected_spans("go") == 20_001
    with pytest.raises(SpecError, match="a request makes 10001 calls, at most 10000 are possible"):
        topology_of("work: {calls: [{to: [a2.answer], times: 10000}]}")


def test_a_chain_may_be_as_long_as_the_limit() -> None:
    steps = "".join(f"o{index}: {{calls: [{{to: [a1.o{index + 1}]}}]}}, " for index in range(3000))
    topology = topology_of(f"work: {{calls: [{{to: [a1.o0]}}]}}, {steps} o3000: {{}}")
    assert topology.expected_spans("go") == 1 + 2 * 3002
    assert topology.expected_tree("go").service == "gateway"


@pytest.mark.parametrize("seed", range(200))
def test_whatever_is_in_the_file_the_answer_is_a_topology_or_a_user_error(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    content = bytearray(draw.choice(VALID).read_bytes())
    for _ in range(draw.randint(1, 6)):
        start = draw.randrange(len(content))
        content[start : start + draw.randint(0, 9)] = draw.choice(
            [b"", b"{", b"]", b": ", b"- ", b"[1]", b"kind: 5", b"\x80", b'"a\\nb": ', b"~", b"1e999", b"true"]
        )
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    try:
        load_topology(path)
    except UserError as error:
        assert all(line.startswith(str(path)) for line in error.message.splitlines())


@pytest.mark.parametrize("kind", ["5", "[svc-a]", "{}", "~", "true", "svc-c"])
def test_an_unknown_kind_is_rejected(kind: str) -> None:
    with pytest.raises(SpecError, match=r"nodes\.a4\.kind: got .*, expected \"gateway\" or \"svc-a\" or \"svc-b\""):
        parse_topology(MESH.read_text().replace("a4:\n    kind: svc-a", f"a4:\n    kind: {kind}"))


def test_a_topology_survives_its_manifest() -> None:
    topology = load_topology(find_named_file("topology", "mesh", SHIPPED))
    assert Topology.model_validate(topology.model_dump(mode="json")) == topology


def test_an_unknown_topology_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match="unknown topology 'mash'; did you mean 'mesh'"):
        find_named_file("topology", "mash", SHIPPED)
