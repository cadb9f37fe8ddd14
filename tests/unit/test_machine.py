"""The machine's readers on made-up `/proc` and `/sys` trees, and the sharing out of CPUs."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from lab.engine import provenance
from lab.engine.machine import (
    engine_cores,
    engine_memory_bytes,
    parse_cpu_times,
    parse_engine_info,
    parse_switch,
    parse_version,
    read_machine,
    run_command,
    split_cpus,
    used_fractions,
)
from tests.repository import ROOT

ENGINE_INFO = {
    "ServerVersion": "26.1.5",
    "NCPU": 4,
    "MemTotal": 8_000_000_000,
    "CgroupVersion": "2",
    "KernelVersion": "6.12.0",
    "OperatingSystem": "Debian GNU/Linux 13 (trixie)",
    "DockerRootDir": "/nowhere/docker",
}


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    proc, sys = tmp_path / "proc", tmp_path / "sys"
    files = {
        proc / "meminfo": "MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable:    8192 kB\nHugePages_Total:   0\n",
        proc / "stat": "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 100 0 100 700 100 0 0 0 0 0\n",
        proc / "cpuinfo": "processor\t: 0\nmodel name\t: Some CPU\nprocessor\t: 1\nmodel name\t: Some CPU\n",
        proc / "loadavg": "1.25 0.80 0.40 2/300 4242\n",
        proc / "sys/net/bridge/bridge-nf-call-iptables": "1\n",
        sys / "devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
        sys / "devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
        sys / "fs/cgroup/cpuacct/cpuacct.usage": "1\n",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return proc, sys


def answers(command: Sequence[str]) -> str | None:
    texts = {"info": json.dumps(ENGINE_INFO), "compose": "2.26.1-4\n", "buildx": "example/buildx 0.13.1+ds1 abc\n"}
    return texts[command[1]]


def silence(_command: Sequence[str]) -> str | None:
    return None


def test_the_engine_is_queried_first(roots: tuple[Path, Path]) -> None:
    machine = read_machine(*roots, run=answers, pause=lambda _: None)
    assert (machine.cores, machine.memory_bytes, machine.cgroup_version) == (4, 8_000_000_000, 2)
    assert (machine.kernel, machine.os) == ("6.12.0", "Debian GNU/Linux 13 (trixie)")
    assert (machine.engine_version, machine.compose_version, machine.buildx_version) == ("26.1.5", "2.26.1", "0.13.1")


def test_the_engines_cores_are_counted_not_the_commands() -> None:
    assert engine_cores(answers) == 4
    assert engine_cores(silence) == (os.cpu_count() or 1)


def test_the_engines_memory_is_known_or_not() -> None:
    assert engine_memory_bytes(lambda _: '{"ServerVersion": "28.2.2", "MemTotal": 8589934592}') == 8 << 30
    assert engine_memory_bytes(lambda _: None) is None


def test_without_an_engine_the_kernel_is_read(roots: tuple[Path, Path]) -> None:
    machine = read_machine(*roots, run=silence, pause=lambda _: None)
    assert machine.engine_version is None
    assert (machine.memory_bytes, machine.memory_available_bytes) == (16384 * 1024, 8192 * 1024)
    assert (machine.cpu_model, machine.cpu_governor, machine.clock_source) == ("Some CPU", "powersave", "tsc")
    assert (machine.cgroup_version, machine.load_average_1m) == (1, 1.25)
    assert machine.bridge_calls_iptables is True


@pytest.mark.parametrize(("text", "switched"), [("1\n", True), ("0\n", False), ("", None)])
def test_a_switch_of_the_kernel_is_on_off_or_not_there(text: str, switched: bool | None) -> None:
    assert parse_switch(text) is switched


def test_steal_and_load_are_differences_over_the_pause(roots: tuple[Path, Path]) -> None:
    def pass_time(_seconds: float) -> None:
        (roots[0] / "stat").write_text("cpu  150 0 100 740 100 0 0 10 0 0\n")

    machine = read_machine(*roots, run=silence, pause=pass_time)
    assert machine.steal_fraction == pytest.approx(0.10)
    assert machine.busy_fraction == pytest.approx(0.60)


def test_what_cannot_be_known_is_none(tmp_path: Path) -> None:
    machine = read_machine(tmp_path, tmp_path, run=silence, pause=lambda _: None)
    assert (machine.cpu_model, machine.cpu_governor, machine.memory_bytes) == (None, None, None)
    assert (machine.cgroup_version, machine.steal_fraction) == (None, None)
    assert machine.cores >= 1
    json.dumps(asdict(machine))


def test_a_clock_that_stopped_has_no_steal() -> None:
    times = parse_cpu_times("cpu  1 2 3 4 5 6 7 8 0 0\n")
    assert times is not None
    assert (times.total, times.idle, times.steal) == (36, 9, 8)
    assert used_fractions(times, times) == (None, None)


def test_a_client_without_engine_is_no_engine() -> None:
    # `docker info` then prints what the client knows, with empty fields for the rest.
    assert parse_engine_info('{"ServerVersion": "", "NCPU": 0, "ServerErrors": ["no daemon"]}') == {}
    assert parse_engine_info("not JSON") == {}
    assert parse_engine_info(None) == {}


@pytest.mark.parametrize(
    ("text", "version"), [("v2.39.1\n", "2.39.1"), ("2.26.1-4", "2.26.1"), ("unknown", None), (None, None)]
)
def test_versions(text: str | None, version: str | None) -> None:
    assert parse_version(text) == version


def test_commands_that_fail_answer_nothing() -> None:
    assert run_command(["false"]) is None
    assert run_command(["a-command-that-does-not-exist"]) is None
    assert run_command(["echo", "yes"]) == "yes\n"


def test_without_git_the_revision_is_not_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = read_machine(tmp_path, tmp_path, run=silence, pause=lambda _: None)
    monkeypatch.setattr(provenance, "read_machine", lambda *_: machine)
    monkeypatch.setattr(provenance, "resolved", dict)
    known = provenance.collect(ROOT, {})["git"]["revision"]
    assert known is not None and len(known) == 40
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.collect(ROOT, {})["git"] == {"revision": None, "dirty": False}


@pytest.mark.parametrize(
    ("cores", "services", "generator"),
    [
        (1, (0,), (0,)),
        (2, (0, 1), (0, 1)),
        (3, (0, 1, 2), (0, 1, 2)),
        (4, (0, 1, 2), (3,)),
        (8, (0, 1, 2, 3, 4, 5), (6, 7)),
    ],
)
def test_cpus_are_shared_below_four_and_split_from_there(
    cores: int, services: tuple[int, ...], generator: tuple[int, ...]
) -> None:
    split = split_cpus(cores)
    assert (split.services, split.generator) == (services, generator)
