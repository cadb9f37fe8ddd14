"""The doctor's judgement on machines that are right, and on each that is not."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.engine import doctor
from lab.engine.doctor import GIB, Check, checks
from lab.engine.machine import Machine

GOOD = Machine(
    cores=8,
    cpu_model="Some CPU",
    cpu_governor="performance",
    memory_bytes=16 * GIB,
    memory_available_bytes=12 * GIB,
    disk_free_bytes=100 * GIB,
    kernel="6.12.0",
    os="Debian",
    cgroup_version=2,
    clock_source="tsc",
    clock_synchronized=True,
    bridge_calls_iptables=False,
    steal_fraction=0.0,
    busy_fraction=0.01,
    load_average_1m=0.1,
    engine_version="28.0.1",
    compose_version="2.26.1",
    buildx_version="0.13.1",
)


def the_one_not_ok(machine: Machine) -> Check:
    (found,) = [check for check in checks(machine) if check.status != "ok"]
    return found


def test_a_good_machine_has_nothing_to_fix() -> None:
    assert {check.status for check in checks(GOOD)} == {"ok"}
    assert {check.fix for check in checks(GOOD)} == {""}


@pytest.mark.parametrize(
    ("machine", "name", "status"),
    [
        (replace(GOOD, engine_version=None), "Docker engine", "fail"),
        (replace(GOOD, engine_version="19.3.1"), "Docker engine", "fail"),
        (replace(GOOD, engine_version="27.5.1"), "loopback ports", "warn"),
        (replace(GOOD, engine_version="20.10.24"), "loopback ports", "warn"),
        (replace(GOOD, compose_version="1.29.2"), "Compose", "fail"),
        (replace(GOOD, compose_version="2.9.0"), "Compose", "fail"),
        (replace(GOOD, buildx_version=None), "buildx", "fail"),
        (replace(GOOD, memory_available_bytes=4 * GIB), "memory", "warn"),
        (replace(GOOD, memory_available_bytes=1 * GIB), "memory", "fail"),
        (replace(GOOD, memory_available_bytes=None, memory_bytes=None), "memory", "warn"),
        (replace(GOOD, disk_free_bytes=1 * GIB), "disk", "fail"),
        (replace(GOOD, cores=2), "cores", "warn"),
        (replace(GOOD, cores=1), "cores", "fail"),
        (replace(GOOD, cgroup_version=None), "cgroups", "fail"),
        (replace(GOOD, clock_source="hpet"), "clock source", "warn"),
        (replace(GOOD, clock_synchronized=False), "clock", "warn"),
        (replace(GOOD, bridge_calls_iptables=True), "bridges", "warn"),
        (replace(GOOD, cpu_governor="powersave"), "CPU frequency", "warn"),
        (replace(GOOD, steal_fraction=0.05), "stolen CPU", "warn"),
        (replace(GOOD, steal_fraction=0.20), "stolen CPU", "fail"),
        (replace(GOOD, busy_fraction=0.50), "other load", "warn"),
    ],
)
def test_each_problem_is_named_with_its_fix(machine: Machine, name: str, status: str) -> None:
    found = the_one_not_ok(machine)
    assert (found.name, found.status) == (name, status)
    assert found.fix


def test_what_is_not_installed_is_installed_by_make_setup() -> None:
    missing = replace(GOOD, engine_version=None, compose_version=None, buildx_version=None)
    fixes = [check.fix for check in checks(missing) if check.status == "fail"]
    assert fixes == ["run `make setup`, or start Docker", "run `make setup`", "run `make setup`"]


@pytest.mark.parametrize(
    ("machine", "code"), [(GOOD, 0), (replace(GOOD, cores=2), 0), (replace(GOOD, engine_version=None), 1)]
)
def test_only_what_stops_the_lab_is_an_exit_code(
    machine: Machine, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def read(_proc: Path, _sys: Path) -> Machine:
        return machine

    monkeypatch.setattr(doctor, "read_machine", read)
    assert doctor.run() == code
    assert "Docker engine" in capsys.readouterr().out
