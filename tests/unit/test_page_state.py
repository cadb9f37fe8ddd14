"""What runs, which version of it, what may be switched when, and what a change gets."""

from typing import Any

import pytest

from lab.command.choice import chosen
from lab.command.held_fault import BEGINS_WITHIN_S, LASTS_S
from lab.errors import UserError
from lab.page.answers import Wrong
from lab.page.state import BROKEN_OFF, DOWN, GONE, LEFT, STARTS_WITHIN_S, State
from lab.target.mesh.switches import sampling_words
from tests.labs import LAB
from tests.page_fakes import NOW_S, FakeWorld, running_system


def up(*overrides: str, **fields: Any) -> tuple[FakeWorld, State]:
    world = FakeWorld(running_system(*overrides, **fields))
    return world, State(world)


def status(state: State, version: object, settings: object) -> int:
    with pytest.raises(Wrong) as caught:
        state.change(version, settings)
    assert caught.value.error
    return caught.value.status


# --- phases and versions ----------------------------------------------------------------------------------------------


def test_nothing_runs() -> None:
    view = State(FakeWorld()).view().shown()
    assert (view["phase"], view["message"], view["choice"], view["controls"]) == ("down", DOWN, None, [])


def test_what_runs_is_shown_with_its_controls() -> None:
    _, state = up("telemetry=zipkin", "users=5")
    view = state.view().shown()
    assert view["phase"] == "up"
    assert view["choice"] == {
        "telemetry": "zipkin",
        "sampling": "1",
        "topology": "mesh",
        "sidecar": "none",
        "fault": "none",
        "load_per_s": 5.0,
    }
    assert [control["name"] for control in view["controls"]] == [
        "telemetry", "sampling", "topology", "sidecar", "load", "fault",
    ]  # fmt: skip
    assert all(control["value"] in control["values"] for control in view["controls"])
    assert view["links"] == [{"name": "jaeger", "url": "http://127.0.0.1:16686/api/services"}]


def test_each_control_says_what_to_type() -> None:
    _, state = up("telemetry=zipkin", "users=5")
    commands = {control["name"]: control["command"] for control in state.view().shown()["controls"]}
    assert commands["telemetry"] == 'make up ARGS="--set users=5" TELEMETRY=%s'
    assert commands["load"] == 'make up TELEMETRY=zipkin ARGS="--set users=%s"'
    assert commands["fault"] == 'make up TELEMETRY=zipkin ARGS="--set users=5" FAULT=%s'


def test_without_traces_there_is_no_sampling() -> None:
    _, state = up("telemetry=baseline")
    assert state.view().shown()["choice"]["sampling"] is None


def test_the_version_changes_with_what_runs_and_only_then() -> None:
    world, state = up()
    first = state.view().version
    assert state.view().version == first
    world.current = running_system("telemetry=zipkin", id="two")
    assert state.view().version == first + 1
    world.current = None
    assert state.view().version == first + 2


def test_a_start_is_starting_until_it_is_late() -> None:
    world, state = up(ready=False)
    assert state.view().phase == "starting"
    world.old_s = STARTS_WITHIN_S + 1
    assert (state.view().phase, state.view().message) == ("failed", BROKEN_OFF)


def test_a_system_that_is_changed_from_a_terminal_is_changing() -> None:
    world, state = up()
    state.view()
    world.current = running_system(id="two", ready=False)
    assert state.view().phase == "changing"


def test_a_system_whose_containers_are_gone_has_failed() -> None:
    world, state = up()
    world.is_gone = True
    assert (state.view().phase, state.view().message) == ("failed", GONE)


def test_a_record_of_another_version_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    world, state = up()

    def read() -> None:
        raise UserError("another version of the lab started the running system", "stop it first: make down")

    monkeypatch.setattr(world, "running", read)
    assert "another version" in str(state.view().message)


def test_a_fault_is_in_force_until_it_expires() -> None:
    world, state = up(fault="frozen", fault_until_s=NOW_S + 10)
    view = state.view()
    assert (view.settings["fault"], view.fault_expires_unix_s) == ("frozen", NOW_S + 10)
    world.time_s = NOW_S + 10
    after = state.view()
    assert (after.settings["fault"], after.fault_expires_unix_s) == ("none", None)
    assert after.version == view.version + 1


# --- changes ----------------------------------------------------------------------------------------------------------


def test_a_change_is_a_list_of_words_and_keeps_the_other_settings() -> None:
    world, state = up("sidecar=retries")
    view = state.change(state.view().version, {"telemetry": "zipkin", "fault": "envoy-delay"})
    assert view.phase == "changing"
    ((words, variables),) = world.begun
    assert words == [
        "up", "mesh", "--set", "telemetry=zipkin", "--set", "topology=mesh", "--set", "sidecar=retries",
        "--set", "users=2", "--fault", "envoy-delay",
    ]  # fmt: skip
    assert variables == {"GATEWAY_PORT": "9000"}


def test_the_second_of_two_browsers_is_late() -> None:
    _, state = up()
    version = state.view().version
    state.change(version, {"telemetry": "zipkin"})
    with pytest.raises(Wrong) as caught:
        state.change(version, {"telemetry": "baseline"})
    assert caught.value.status == 409
    assert caught.value.more["state"]["phase"] == "changing"
    assert caught.value.more["state"]["version"] == version + 1


@pytest.mark.parametrize(
    ("fields", "gone"), [({"ready": False}, False), ({}, True)], ids=["while it starts", "when it is gone"]
)
def test_a_switch_without_a_running_system_is_rejected(fields: dict[str, Any], gone: bool) -> None:
    world, state = up(**fields)
    world.is_gone = gone
    assert status(state, state.view().version, {"telemetry": "zipkin"}) == 503
    assert world.begun == []


def test_a_switch_without_any_system_or_during_a_change_is_rejected() -> None:
    world = FakeWorld()
    state = State(world)
    assert status(state, state.view().version, {"telemetry": "zipkin"}) == 503
    world.current = running_system()
    state.change(state.view().version, {"telemetry": "zipkin"})
    assert status(state, state.view().version, {"telemetry": "zipkin"}) == 503
    assert len(world.begun) == 1


@pytest.mark.parametrize(
    "settings",
    [
        None,
        [],
        {},
        "telemetry=zipkin",
        {"telemetri": "zipkin"},
        {"telemetry": "zipkn"},
        {"telemetry": "zipkin; touch /tmp/x"},
        {"telemetry": "--help"},
        {"telemetry": ["zipkin"]},
        {"telemetry": None},
        {"topology": "../../etc/passwd"},
        {"load": 3},
        {"fault": "envoy-abort"},
    ],
)
def test_only_what_is_listed_can_be_set(settings: object) -> None:
    world, state = up()
    assert status(state, state.view().version, settings) == 400
    assert world.begun == []


@pytest.mark.parametrize("version", [None, "1", 1.0, True, [1]])
def test_a_version_is_a_whole_number(version: object) -> None:
    _, state = up()
    state.view()
    assert status(state, version, {"telemetry": "zipkin"}) == 400


def test_a_number_is_as_good_as_its_text() -> None:
    world, state = up()
    state.change(state.view().version, {"load": 5})
    assert "users=5" in world.begun[0][0]


def test_a_change_that_failed_says_why_until_something_else_runs() -> None:
    world, state = up()
    state.change(state.view().version, {"fault": "frozen"})
    world.change.said, world.change.ended = "the fault could not be injected", True
    assert (state.view().phase, state.view().message) == ("up", "the fault could not be injected")
    world.current = running_system(id="two")
    assert state.view().message is None


def test_a_change_that_left_nothing_has_failed() -> None:
    world, state = up()
    state.change(state.view().version, {"topology": "duo"})
    world.current, world.change.said, world.change.ended = None, "port 8080 is in use", True
    assert (state.view().phase, state.view().message) == ("failed", "port 8080 is in use")


def test_another_topology_takes_its_own_kind_of_load() -> None:
    world, state = up("users=5")
    state.change(state.view().version, {"topology": "chain"})
    words = world.begun[0][0]
    assert "requests_per_s=5" in words
    assert chosen(LAB, "mesh", [word for word in words if "=" in word], None).load.generator == "ghz"


def test_sampling_reaches_every_kind_of_telemetry() -> None:
    world, state = up()
    state.change(state.view().version, {"sampling": "0.1"})
    words = [word for word in world.begun[0][0] if "=" in word]
    assert set(sampling_words("0.1")) < set(words)
    level = chosen(LAB, "mesh", words, None).baseline_level().settings
    assert level.environment["OTEL_TRACES_SAMPLER_ARG"] == "0.1"
    assert level.environment["MANAGEMENT_TRACING_SAMPLING_PROBABILITY"] == "0.1"
    world.current, world.change.ended = running_system(*words, id="two"), True
    assert state.view().settings["sampling"] == "0.1"


# --- a fault whose process was killed ---------------------------------------------------------------------------------


def test_a_fault_that_nobody_holds_is_lifted() -> None:
    world, state = up(fault="frozen", fault_until_s=NOW_S + LASTS_S)
    world.is_left = True
    state.lift_left()
    # Its process may just begin.
    assert world.begun == []
    world.time_s = NOW_S + BEGINS_WITHIN_S + 1
    state.lift_left()
    assert world.begun[0][0][-2:] == ["--fault", "none"]
    assert state.view().message == LEFT


def test_it_is_tried_once() -> None:
    world, state = up(fault="frozen", fault_until_s=NOW_S)
    world.is_left = True
    state.lift_left()
    world.change.said, world.change.ended = "no engine", True
    state.lift_left()
    assert len(world.begun) == 1
    assert state.view().message == "no engine"


def test_a_fault_that_is_held_stays() -> None:
    world, state = up(fault="frozen", fault_until_s=NOW_S + 1)
    state.lift_left()
    assert world.begun == []
