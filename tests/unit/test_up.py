"""`lab up` without containers: what is chosen, what is kept of a running system, and what is on record of it."""

import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from lab.command import held_fault, prepare, running, up
from lab.command.choice import changes_in_place, chosen, described, has_faults, recorded
from lab.command.paths import JOURNAL, ROOT
from lab.command.running import Running
from lab.engine.driver import Stack
from lab.engine.keeping import BEHIND, BY_UP, GUARD, LABEL, KeepingDriver, labelled, with_guards
from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.errors import UserError
from lab.fault.kinds import KINDS
from lab.fault.planes import SERVICE
from lab.spec.parse import recorded_experiment
from tests.fake import FakeDriver
from tests.labs import LAB, MESH, level

BY_PROXY = [kind for kind, fault in KINDS.items() if fault.needs_sidecar]
OF_SERVICES = [kind for kind, fault in KINDS.items() if SERVICE in fault.roles]


# --- the choice -------------------------------------------------------------------------------------------------------


def test_the_default_is_a_traced_mesh_under_a_light_load() -> None:
    experiment = chosen(LAB, "mesh", [], None)
    assert experiment.load.generator == "locust"
    assert experiment.load.schedule.fixed() == {"users": 2}
    assert described(experiment) == "mesh: topology mesh, telemetry otel-manual"
    assert not has_faults(experiment)


def test_the_load_is_what_the_entry_takes() -> None:
    assert chosen(LAB, "mesh", ["topology=chain"], None).load.generator == "ghz"
    assert chosen(LAB, "mesh", ["topology=duo", "users=5"], None).load.schedule.fixed() == {"users": 5}
    assert chosen(LAB, "proxy", [], None).load.generator == "none"


@pytest.mark.parametrize(
    ("kind", "overrides", "fault", "says"),
    [
        ("mesh", ["telemetry=zipkn"], None, "lab up: telemetry: unknown variant 'zipkn'; did you mean 'zipkin'?"),
        ("mesh", ["topology=chian"], None, "lab up: topology: unknown topology 'chian'; did you mean 'chain'?"),
        ("mesh", [], "frozn", "lab up: unknown fault 'frozn'; did you mean 'frozen'?"),
        ("mesh", [], "envoy-abort", "envoy-abort of a1 needs a sidecar"),
        ("proxy", [], "frozen", "lab up: unknown fault 'frozen'; there is none"),
        ("mehs", [], None, "did you mean 'mesh'?"),
    ],
)
def test_what_is_unknown_is_one_line(kind: str, overrides: list[str], fault: str | None, says: str) -> None:
    with pytest.raises(UserError) as caught:
        chosen(LAB, kind, overrides, fault)
    assert says in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize(("topology", "target"), [("mesh", "a1"), ("chain", "s2")])
@pytest.mark.parametrize("kind", OF_SERVICES)
def test_each_kind_of_fault_can_be_requested_by_its_name(kind: str, topology: str, target: str) -> None:
    experiment = chosen(LAB, "mesh", [f"topology={topology}", "sidecar=passthrough"], kind)
    (fault,) = experiment.baseline_level().settings.faults
    assert (fault.kind, fault.target, fault.start_s, fault.length_s) == (kind, target, 0, held_fault.LASTS_S)
    assert has_faults(experiment)


def test_a_fault_changes_no_service(tmp_path: Path) -> None:
    """None has to restart."""

    def created(fault: str | None) -> object:
        driver = FakeDriver()
        place = Place(ROOT, CpuSplit((0,), (0,)), driver, driver.clock, JOURNAL)
        MESH.deployment(chosen(LAB, "mesh", [], fault).baseline_level(), place, tmp_path / str(fault)).deploy({}, ())
        assert driver.deployment is not None
        return driver.deployment.overlay

    assert created(None) == created("frozen")


def test_a_choice_survives_its_record() -> None:
    experiment = chosen(LAB, "mesh", ["sidecar=retries"], "envoy-delay")
    spec = json.loads(json.dumps(recorded(experiment)))
    assert recorded(recorded_experiment(spec, LAB.grammar)) == spec == recorded(experiment)


@pytest.mark.parametrize(
    ("overrides", "fault", "kept"),
    [
        (["telemetry=zipkin"], None, True),
        (["sidecar=retries"], "envoy-delay", True),
        (["topology=duo"], None, False),
        (["users=3"], None, False),
    ],
)
def test_another_topology_or_load_is_another_system(overrides: list[str], fault: str | None, kept: bool) -> None:
    before, wanted = (recorded(chosen(LAB, "mesh", *words)) for words in (([], None), (overrides, fault)))
    assert changes_in_place(before, wanted) == kept


@pytest.mark.parametrize("kind", LAB.targets)
def test_every_kind_of_target_has_an_example(kind: str) -> None:
    assert chosen(LAB, kind, [], None).target.kind == kind


def test_a_field_of_the_level_is_set_by_its_name_alone() -> None:
    assert chosen(LAB, "proxy", ["receiver=sink"], None).baseline_level().recorded()["receiver"] == "sink"
    assert chosen(LAB, "mesh", ["memory_mib=512"], None).baseline_level().recorded()["memory_mib"] == 512


# --- what is kept -----------------------------------------------------------------------------------------------------

COMPOSE: Mapping[str, Any] = {
    "svc": {"volumes": ["${TRIAL_DIR:-./out}/topology.json:/t.json:ro", "${TRIAL_DIR:-./out}/ready:/ready"]},
    "envoy": {},
    "locust": {"volumes": ["./loadgen/users:/users:ro", "${TRIAL_DIR:-./out}:/out"]},
}
OVERLAY: dict[str, object] = {
    "services": {
        "a1": {"extends": {"file": "compose.yaml", "service": "svc"}, "environment": {"NODE": "a1"}},
        "a1-envoy": {"extends": {"service": "envoy"}, "volumes": ["${TRIAL_DIR}/envoy/a1.json:/envoy.json:ro"]},
    }
}


def labels(files: Mapping[str, str]) -> dict[str, str]:
    """By container, the label of its files."""
    stack = Stack(("a1", "a1-envoy", "locust"), OVERLAY)
    services: dict[str, Any] = labelled(stack, COMPOSE, lambda path: files.get(path, "")).overlay["services"]  # type: ignore[assignment]
    assert all(service["labels"][BY_UP] for service in services.values())
    return {name: service["labels"][LABEL] for name, service in services.items()}


def test_a_container_is_labelled_with_the_files_that_it_reads() -> None:
    files = {"topology.json": "t1", "envoy/a1.json": "e1"}
    assert labels(files) == {"a1": "t1", "a1-envoy": "e1", "locust": ""}
    assert labels({**files, "envoy/a1.json": "e2"}) == {"a1": "t1", "a1-envoy": "e2", "locust": ""}


def test_the_overlay_keeps_what_it_says() -> None:
    stack = labelled(Stack(("a1",), OVERLAY), COMPOSE, lambda _: "x")
    services: dict[str, Any] = stack.overlay["services"]  # type: ignore[assignment]
    assert services["a1"]["environment"] == {"NODE": "a1"}
    assert "labels" not in services["a1-envoy"]


def test_a_service_with_a_guard_leaves_its_port_to_it() -> None:
    behind = {"environment": {"QUERY_PORT": "9412"}, "ports": ["127.0.0.1::9411"]}
    compose = {"zipkin": {}, "zipkin-guard": {"x-behind": behind}, "jaeger": {}}
    overlay: dict[str, object] = {"services": {"zipkin": {"environment": {"A": "1"}}}}
    made = with_guards(Stack(("zipkin", "jaeger"), overlay, {"TRIAL_DIR": "x"}), compose)
    assert made.services == ("zipkin", "jaeger", "zipkin-guard")
    whole = {"environment": {"A": "1", "QUERY_PORT": "9412"}, "ports": ["127.0.0.1::9411"]}
    assert made.overlay == {"services": {"zipkin": whole}}
    unguarded = Stack(("jaeger",), overlay)
    assert with_guards(unguarded, compose) == unguarded


def test_every_guard_of_the_lab_is_in_front_of_a_page() -> None:
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    guards = [name for name in services if name.endswith(GUARD)]
    assert guards == ["zipkin-guard", "locust-guard"]
    for name in guards:
        owner, guard = services[name.removesuffix(GUARD)], services[name]
        # Either it has a port and leaves it to the guard, or it only gets one here.
        assert ("ports" in owner) != ("ports" in guard[BEHIND])
        assert guard["network_mode"] == f"service:{name.removesuffix(GUARD)}"
        assert "ports" not in guard


DOCKER = """#!/bin/sh
cd "$(dirname "$0")"
case "$1 $2" in
"ps --all") printf 'id1 a1\\nid2 jaeger\\n' ;;
"ps --quiet") echo $RUNNING ;;
*) echo "$*" >> calls ;;
esac
"""


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `docker` that is a script; returns the file with its arguments."""
    script = tmp_path / "docker"
    script.write_text(DOCKER)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("RUNNING", "id1")
    return tmp_path / "calls"


def test_what_is_no_longer_wanted_is_removed_before_the_rest_is_compared(docker: Path, tmp_path: Path) -> None:
    driver = KeepingDriver(ROOT, tmp_path / "scratch")
    driver.create(Stack(("a1", "zipkin"), {"services": {}}, {"TRIAL_DIR": str(tmp_path)}))
    removed, composed = docker.read_text().splitlines()
    assert removed == "rm --force --volumes id2"
    assert composed.endswith("up --no-start --remove-orphans a1 zipkin zipkin-guard")


class Kept(FakeDriver):
    """A driver that keeps what runs."""

    def create(self, deployment: Stack) -> None:
        running = set(self.running)
        super().create(deployment)
        self.running = running - {"a2"}


def test_only_what_starts_again_has_to_say_that_it_is_ready(tmp_path: Path) -> None:
    driver = Kept()
    of, place = level("x", "baseline"), Place(ROOT, CpuSplit((0,), (0,)), driver, driver.clock, JOURNAL, keeps=True)
    system = MESH.deployment(of, place, tmp_path / "out")
    system.deploy({}, ())
    system.ready(())
    system.deploy({}, ())
    left = {path.stem for path in (tmp_path / "out" / "ready").iterdir()}
    assert left == set(system.topology.nodes) - {"a2"}
    with pytest.raises(FileExistsError):
        replace(system, place=replace(place, keeps=False)).deploy({}, ())


# --- what is on record ------------------------------------------------------------------------------------------------


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "lab" / "up.json"
    monkeypatch.setattr(running, "PATH", path)
    return path


def test_a_record_is_read_as_it_was_written(record: Path) -> None:
    assert running.read() is None
    now = running.new({"target": {"kind": "mesh"}}).model_copy(update={"ready": True, "services": ("a1",)})
    running.write(now)
    assert running.read() == now
    assert {"format": "tollbooth.up", "version": 1}.items() <= json.loads(record.read_text()).items()
    running.forget()
    assert running.read() is None


def test_a_record_of_another_version_says_what_to_do(record: Path) -> None:
    record.parent.mkdir()
    record.write_text('{"format": "tollbooth.up", "version": 2}')
    with pytest.raises(UserError, match="another version") as caught:
        running.read()
    assert "make down" in caught.value.hint
    assert not running.is_current("x", time.time())


def test_a_fault_is_wanted_until_it_expires_or_another_system_runs(record: Path) -> None:
    assert not running.is_current("x", 0.0)
    now = Running(id="x", spec={}, fault_until_s=100.0)
    running.write(now)
    assert running.is_current("x", 99.0)
    assert not running.is_current("x", 100.0)
    assert not running.is_current("y", 99.0)


@pytest.mark.usefixtures("docker")
def test_no_experiment_begins_beside_what_runs(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running.write(running.new({}))
    with pytest.raises(UserError, match="`make up` started is running") as caught:
        running.reject_beside()
    assert caught.value.hint == "stop it first: make down"
    # After a reboot its containers are there, and none runs.
    monkeypatch.setenv("RUNNING", "")
    running.reject_beside()
    assert not record.exists()


# --- errors -----------------------------------------------------------------------------------------------------------


def test_too_little_memory_is_one_line() -> None:
    up.require_memory(2 << 30, 2 << 30)
    up.require_memory(2 << 30, None)
    with pytest.raises(UserError, match=r"may need 2\.0 GiB of memory, 1\.5 GiB are free"):
        up.require_memory(2 << 30, 3 << 29)


def test_a_start_that_fails_leaves_nothing(record: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = []
    monkeypatch.setattr(prepare, "remove_all", lambda: done.append("removed"))
    monkeypatch.setattr(up, "ignore_signals", lambda: done.append("ignores signals"))
    running.write(running.new({}))
    with pytest.raises(KeyboardInterrupt), up._or_nothing():
        raise KeyboardInterrupt
    assert done == ["ignores signals", "removed"]
    assert not record.exists()


@pytest.mark.parametrize(("before", "left"), [(False, "nothing is running"), (True, "the earlier system runs")])
def test_an_interrupted_start_says_what_is_left(
    before: bool, left: str, record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(up, "_up", interrupted)
    monkeypatch.setattr(up, "LOCK", tmp_path / "lock")
    if before:
        running.write(running.new({}))
    with pytest.raises(up.Interrupted, match="interrupted") as caught:
        up.up(LAB, "mesh", [], None, None)  # type: ignore[arg-type]
    assert caught.value.exit_code == 130
    assert caught.value.hint.startswith(left)
