"""Faults as an experiment declares them: what is read, what is drawn, and what is rejected in one clear line."""

import pytest
from pydantic import Field

from lab.fault.fault import DeclaredFault
from lab.fault.kinds import KINDS, Faults
from lab.fault.rules import contradictions, unknown_targets, without_sidecar
from lab.fault.run import Step, drawn, steps
from lab.spec.model import Shape, validate
from lab.spec.problems import Problem, SpecError, dotted
from lab.spec.yamlfile import parse_yaml


class Level(Shape):
    """The part of a level that holds faults."""

    faults: Faults = Field(default_factory=list)


def level(*faults: str) -> list[DeclaredFault]:
    data = parse_yaml("faults:\n" + "".join(f"  - {{{fault}}}\n" for fault in faults))
    return list(validate(Level, data).faults)


def texts(faults: list[Problem]) -> list[str]:
    return [f"{dotted(fault.path)}: {fault.text}" for fault in faults]


FROZEN = "kind: frozen, target: s2, start_s: 10, length_s: 5"
CPU_CUT = "kind: cpu-cut, target: s2, size: 0.25, start_s: 10, length_s: 10"


def test_a_declared_fault_is_of_its_kinds_class() -> None:
    frozen, cut = level(FROZEN, CPU_CUT)
    assert isinstance(frozen, KINDS["frozen"])
    assert (cut.what, cut.earliest_s, cut.latest_s, cut.length_s) == ("cpu-cut of s2", 10, 10, 10)
    assert cut.model_dump(mode="json") == {
        "kind": "cpu-cut", "target": "s2", "size": 0.25, "start_s": 10, "length_s": 10
    }  # fmt: skip


def test_a_level_survives_its_manifest() -> None:
    before = validate(Level, {"faults": [{"kind": "frozen", "target": "s2", "start_s": [1, 2], "length_s": 5}]})
    assert validate(Level, before.model_dump(mode="json")) == before


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("kind: frozn, target: s2, start_s: 1, length_s: 5",
            "faults[0].kind: got \"frozn\", expected .*did you mean 'frozen'"),
        ("target: s2, start_s: 1, length_s: 5", 'faults[0].kind: missing; expected "answer-delay" or'),
        (f"{FROZEN}, size: 1", "faults[0].size: unknown key; there are: kind, length_s, start_s, target"),
        (CPU_CUT.replace("size: 0.25, ", ""), "faults[0].size: missing; expected a number from 0.01 to 1"),
        (CPU_CUT.replace("0.25", "2"), "faults[0].size: got 2, expected a number from 0.01 to 1"),
        (CPU_CUT.replace("length_s: 10", "length_s: 1"), "faults[0].length_s: got 1, expected a number from 3 to 3600"),
        (CPU_CUT.replace("start_s: 10", "start_s: -1"), "faults[0].start_s: got -1, expected a number from 0 to 3600"),
        (FROZEN.replace("s2", "../s2"), "faults[0].target: got \"../s2\", expected text of the form"),
        ("kind: envoy-abort, target: s2, size: 1.5, start_s: 1, length_s: 5",
            "faults[0].size: got 1.5, expected a number from 0.0001 to 1"),
        ("kind: envoy-delay, target: s2, size: 0.5, start_s: 1, length_s: 5",
            "faults[0].size: got 0.5, expected a whole number from 1 to 60000"),
    ],
)  # fmt: skip
def test_a_wrong_fault_is_reported_in_one_line(fault: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        level(fault)
    lines = texts(list(caught.value.problems))
    assert len(lines) == 1
    begin, _, end = message.partition(".*")
    assert lines[0].startswith(begin)
    assert end in lines[0]


def test_starts_are_drawn_from_the_seed_and_nothing_else() -> None:
    ranges = level(FROZEN.replace("10", "[10, 20]"), CPU_CUT.replace("start_s: 10", "start_s: [0, 5]"), FROZEN)
    first, again, other = drawn(ranges, 7), drawn(ranges, 7), drawn(ranges, 8)
    assert first == again
    assert first[0] != other[0]
    assert all(10 <= found[0].earliest_s == found[0].latest_s <= 20 for found in (first, other))
    assert first[2].start_s == 10
    # What another fault declares leaves a draw alone.
    assert drawn([ranges[2], ranges[1]], 7)[1] == first[1]


def test_steps_are_in_order_of_time_and_lifts_come_first() -> None:
    faults = level(
        "kind: frozen, target: s2, start_s: 5, length_s: 5",
        "kind: killed, target: s2, start_s: 10, length_s: 3",
        "kind: cpu-cut, target: s3, size: 0.5, start_s: 0, length_s: 20",
    )
    assert steps(faults) == [
        Step(0, 2, "inject"),
        Step(5, 0, "inject"),
        Step(10, 0, "lift"),
        Step(10, 1, "inject"),
        Step(13, 1, "lift"),
        Step(20, 2, "lift"),
    ]


def rejections(*faults: str, window_s: float | None = 30) -> list[str]:
    return texts(list(contradictions(level(*faults), window_s, ("faults",))))


def test_a_fault_longer_than_the_trial_is_rejected() -> None:
    assert rejections(CPU_CUT, window_s=20) == []
    assert rejections(CPU_CUT, window_s=None) == []
    assert rejections(CPU_CUT.replace("start_s: 10", "start_s: [5, 11]"), window_s=20) == [
        "faults[0]: cpu-cut of s2 may last until 21 s after the start of the window, which is 20 s long"
    ]


def test_an_earliest_start_after_the_latest_is_rejected() -> None:
    assert rejections(FROZEN.replace("10", "[12, 10]")) == [
        "faults[0].start_s: the earliest, 12, is after the latest, 10"
    ]


NETWORK = "kind: bandwidth-cap, target: s2, size: 100, start_s: 12, length_s: 5"


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (FROZEN, FROZEN.replace("frozen", "killed"), "no other fault of a node can be verified while it is frozen"),
        (FROZEN, CPU_CUT, "no other fault of a node can be verified while it is frozen"),
        (NETWORK, FROZEN.replace("frozen", "cut-off"), "no other fault of a node can be verified while it is cut-off"),
        (CPU_CUT, CPU_CUT.replace("0.25", "0.5"), "both change its cpu"),
        (NETWORK, NETWORK.replace("bandwidth-cap", "packet-delay"), "both change its network"),
        (FROZEN, FROZEN.replace("10", "[0, 14]"), "no other fault of a node can be verified while it is frozen"),
    ],
)
def test_two_faults_of_one_target_that_contradict_are_rejected(one: str, other: str, why: str) -> None:
    first, second = (next(iter(level(fault))).what for fault in (one, other))
    line = f"faults[1]: {second} and {first} may be at the same time: {why}"
    assert rejections(one, other) == [line]
    assert rejections(one, other.replace("s2", "s3")) == []


def test_faults_of_one_target_that_go_together_are_allowed() -> None:
    abort = "kind: envoy-abort, target: s2, size: 0.1, start_s: 10, length_s: 5"
    delay = "kind: envoy-delay, target: s2, size: 50, start_s: 10, length_s: 5"
    assert rejections(CPU_CUT, NETWORK, abort, delay) == []
    assert rejections(FROZEN, FROZEN.replace("10", "15")) == []


ROLES = {"s1": "service", "s2": "service", "s3": "service", "sink": "backend", "collector-a": "endpoint"}


def test_a_target_that_there_is_not_is_rejected() -> None:
    (found,) = texts(list(unknown_targets(level(FROZEN, FROZEN.replace("s2", "s22")), ROLES, ("faults",))))
    listed = "collector-a, s1, s2, s3, sink"
    assert found == f"faults[1].target: frozen has no target 's22' here; did you mean 's2'? (there are: {listed})"


def test_two_faults_of_the_sink_contradict_whatever_their_endpoints() -> None:
    assert rejections(DELAY, DELAY.replace("collector-a", "collector-b")) == [
        "faults[1]: answer-delay of collector-b and answer-delay of collector-a may be at the same time: "
        "both change the sink, which every endpoint sends to"
    ]
    assert rejections(DELAY, DELAY.replace("collector-a", "collector-b").replace("start_s: 10", "start_s: 15")) == []


LATENCY = "kind: application-latency, target: s2, size: 5, start_s: 10, length_s: 5"
DELAY = "kind: answer-delay, target: collector-a, size: 5, start_s: 10, length_s: 5"


@pytest.mark.parametrize(
    ("fault", "possible"),
    [
        (LATENCY.replace("s2", "collector-a"), "there are: s1, s2, s3"),
        (LATENCY.replace("application-latency", "packet-delay").replace("s2", "collector-a"), "there are: s1, s2, s3"),
        (DELAY.replace("collector-a", "sink"), "there are: collector-a"),
    ],
)
def test_a_kind_is_a_fault_of_some_roles_only(fault: str, possible: str) -> None:
    (line,) = texts(list(unknown_targets(level(fault), ROLES, ("faults",))))
    assert line.startswith("faults[0].target: ")
    assert possible in line


def test_a_backend_can_have_the_faults_of_any_container() -> None:
    of_sink = [FROZEN, CPU_CUT, NETWORK, FROZEN.replace("frozen", "killed"), FROZEN.replace("frozen", "cut-off")]
    faults = level(*(fault.replace("s2", "sink") for fault in of_sink), LATENCY, DELAY)
    assert list(unknown_targets(faults, ROLES, ("faults",))) == []


def test_a_proxys_fault_without_a_proxy_is_rejected() -> None:
    abort = "kind: envoy-abort, target: s2, size: 0.1, start_s: 10, length_s: 5"
    assert texts(list(without_sidecar(level(FROZEN, abort), ("faults",)))) == [
        "faults[1].kind: envoy-abort of s2 needs a sidecar, and this level has none: add one, or leave the fault out"
    ]
