"""Checks whether this machine is fit for measuring; each finding comes with its fix."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from lab.engine.machine import SEPARATE_CPUS_FROM, Machine, read_machine

Status = Literal["ok", "warn", "fail"]

# The second closes ports on 127.0.0.1 to the local network: https://docs.docker.com/engine/release-notes/28/
ENGINE_AT_LEAST, LOOPBACK_ONLY_FROM = "20.10", "28.0"
COMPOSE_AT_LEAST = "2.20"
GIB = 1 << 30
MEMORY_FAIL_BYTES = 3 * GIB
MEMORY_WARN_BYTES = 5 * GIB
DISK_FAIL_BYTES = 4 * GIB
DISK_WARN_BYTES = 10 * GIB
LEAST_CORES = 2
STEAL_WARN = 0.01
STEAL_FAIL = 0.10
BUSY_WARN = 0.10
# Reading one of these takes a few instructions; reading another takes a system call.
FAST_CLOCKS = frozenset({"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"})
STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@dataclass(frozen=True)
class Check:
    """One check: `seen` is what was found, `fix` what to do about it ("" if nothing)."""

    name: str
    status: Status
    seen: str
    fix: str = ""


def run() -> int:
    """Checks this machine and prints a table; returns the exit code: 1 if the lab cannot run."""
    found = checks(read_machine(Path("/proc"), Path("/sys")))
    table = Table("", "", "seen", Column("what to do", overflow="fold"), box=None, pad_edge=False)
    for check in found:
        table.add_row(Text(check.status, style=STYLES[check.status]), check.name, check.seen, check.fix)
    Console().print(table)
    return 1 if any(check.status == "fail" for check in found) else 0


def checks(machine: Machine) -> list[Check]:
    """All checks, the ones that stop the lab first."""
    memory_bytes = machine.memory_available_bytes or machine.memory_bytes
    stolen, busy, governor = machine.steal_fraction, machine.busy_fraction, machine.cpu_governor
    return [
        _program("Docker engine", machine.engine_version, ENGINE_AT_LEAST, "run `make setup`, or start Docker"),
        _program("Compose", machine.compose_version, COMPOSE_AT_LEAST, "run `make setup`"),
        _program("buildx", machine.buildx_version, "0", "run `make setup`"),
        _check(
            "loopback ports",
            f"engine {machine.engine_version or 'unknown'}",
            "hosts of the local network may reach ports that this engine publishes on 127.0.0.1: "
            f"update it to {LOOPBACK_ONLY_FROM}, or use `make up` only in networks that you trust",
            warn=_numbers(ENGINE_AT_LEAST) <= _numbers(machine.engine_version or "") < _numbers(LOOPBACK_ONLY_FROM),
        ),
        _unknown("memory", f"have {MEMORY_WARN_BYTES // GIB} GiB free")
        if memory_bytes is None
        else _check(
            "memory",
            f"{memory_bytes / GIB:.1f} GiB available",
            f"close other programs, or give the engine more: {MEMORY_WARN_BYTES // GIB} GiB are recommended",
            warn=memory_bytes < MEMORY_WARN_BYTES,
            fail=memory_bytes < MEMORY_FAIL_BYTES,
        ),
        _check(
            "disk",
            f"{machine.disk_free_bytes / GIB:.1f} GiB free",
            f"free some space, as images and caches need {DISK_WARN_BYTES // GIB} GiB: `docker builder prune` empties "
            "the build cache; `make clean` removes the lab's images and .venv, which must then be built again",
            warn=machine.disk_free_bytes < DISK_WARN_BYTES,
            fail=machine.disk_free_bytes < DISK_FAIL_BYTES,
        ),
        _check(
            "cores",
            str(machine.cores),
            f"with {SEPARATE_CPUS_FROM} or more, services and load generator have separate CPUs; here they share",
            warn=machine.cores < SEPARATE_CPUS_FROM,
            fail=machine.cores < LEAST_CORES,
        ),
        _check(
            "cgroups",
            "none found" if machine.cgroup_version is None else f"v{machine.cgroup_version}",
            "the observer reads them: mount them under /sys/fs/cgroup",
            fail=machine.cgroup_version is None,
        ),
        _check(
            "clock source",
            machine.clock_source or "unknown",
            "this clock is slow to read, which adds to a span's cost",
            warn=machine.clock_source not in FAST_CLOCKS,
        ),
        _check(
            "clock",
            _worded(machine.clock_synchronized, "synchronised", "not synchronised"),
            "run an NTP client (chrony): setting the clock spoils a trial",
            warn=not machine.clock_synchronized,
        ),
        _check(
            "CPU frequency",
            {None: "set by the host (virtual machine)", "performance": "performance"}.get(
                governor, f"governor {governor}"
            ),
            "to measure: cpupower frequency-set -g performance",
            warn=governor not in (None, "performance"),
        ),
        # The engine has rules for each network, and a packet passes the rules of other networks first.
        _check(
            "bridges",
            _worded(machine.bridge_calls_iptables, "every packet passes iptables", "packets do not pass iptables"),
            "it may cost CPU: sysctl net.bridge.bridge-nf-call-iptables=0 (until the next boot)",
            warn=bool(machine.bridge_calls_iptables),
        ),
        _unknown("stolen CPU", "the lab rejects trials in which the host took CPU time")
        if stolen is None
        else _check(
            "stolen CPU",
            f"{stolen:.1%}",
            "the host gives this machine's CPU time to others: use another host",
            warn=stolen > STEAL_WARN,
            fail=stolen > STEAL_FAIL,
        ),
        _unknown("other load", "stop other programs before measuring")
        if busy is None
        else _check(
            "other load", f"{busy:.0%} of all CPU time", "stop other programs: they disturb", warn=busy > BUSY_WARN
        ),
    ]


def _check(name: str, seen: str, fix: str, *, warn: bool = False, fail: bool = False) -> Check:
    return Check(name, "fail" if fail else "warn" if warn else "ok", seen, fix if warn or fail else "")


def _unknown(name: str, fix: str) -> Check:
    return Check(name, "warn", "unknown", fix)


def _worded(switch: bool | None, on: str, off: str) -> str:
    return "unknown" if switch is None else on if switch else off


def _program(name: str, version: str | None, at_least: str, fix: str) -> Check:
    if version is None:
        return Check(name, "fail", "does not answer", fix)
    too_old = _numbers(version) < _numbers(at_least)
    return _check(name, version, f"{at_least} or newer is needed: update it", fail=too_old)


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:2]]
