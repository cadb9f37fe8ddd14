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

ENGINE_AT_LEAST = "20.10"
COMPOSE_AT_LEAST = "2.20"
GIB = 1 << 30
MEMORY_FAIL_BYTES = 3 * GIB
MEMORY_WARN_BYTES = 5 * GIB
DISK_FAIL_BYTES = 4 * GIB
DISK_WARN_BYTES = 10 * GIB
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
    Console().print(_table(found))
    return 1 if any(check.status == "fail" for check in found) else 0


def checks(machine: Machine) -> list[Check]:
    """All checks, the ones that stop the lab first."""
    return [
        _program("Docker engine", machine.engine_version, ENGINE_AT_LEAST, "run `scripts/setup.sh`, or start Docker"),
        _program("Compose", machine.compose_version, COMPOSE_AT_LEAST, "run `scripts/setup.sh`"),
        _program("buildx", machine.buildx_version, "0", "run `scripts/setup.sh`"),
        _memory(machine.memory_available_bytes or machine.memory_bytes),
        _disk(machine.disk_free_bytes),
        _cores(machine.cores),
        _cgroups(machine.cgroup_version),
        _clock_source(machine.clock_source),
        _clock_synchronized(machine.clock_synchronized),
        _governor(machine.cpu_governor),
        _bridges(machine.bridge_calls_iptables),
        _steal(machine.steal_fraction),
        _other_load(machine.busy_fraction),
    ]


def _program(name: str, version: str | None, at_least: str, fix: str) -> Check:
    if version is None:
        return Check(name, "fail", "does not answer", fix)
    if _numbers(version) < _numbers(at_least):
        return Check(name, "fail", version, f"{at_least} or newer is needed: update it")
    return Check(name, "ok", version)


def _memory(available_bytes: int | None) -> Check:
    if available_bytes is None:
        return Check("memory", "warn", "unknown", f"have {MEMORY_WARN_BYTES // GIB} GiB free")
    seen = f"{available_bytes / GIB:.1f} GiB available"
    fix = f"close other programs, or give the engine more: {MEMORY_WARN_BYTES // GIB} GiB are recommended"
    return _graded("memory", available_bytes, MEMORY_FAIL_BYTES, MEMORY_WARN_BYTES, seen, fix)


def _disk(free_bytes: int) -> Check:
    fix = f"free some space (`make clean`, `docker system prune`): images and caches need {DISK_WARN_BYTES // GIB} GiB"
    return _graded("disk", free_bytes, DISK_FAIL_BYTES, DISK_WARN_BYTES, f"{free_bytes / GIB:.1f} GiB free", fix)


def _cores(cores: int) -> Check:
    fix = f"with {SEPARATE_CPUS_FROM} or more, services and load generator have separate CPUs; here they share"
    return _graded("cores", cores, 2, SEPARATE_CPUS_FROM, str(cores), fix)


def _graded(name: str, value: int, fail_below: int, warn_below: int, seen: str, fix: str) -> Check:
    if value >= warn_below:
        return Check(name, "ok", seen)
    return Check(name, "fail" if value < fail_below else "warn", seen, fix)


def _cgroups(version: int | None) -> Check:
    if version is None:
        return Check("cgroups", "fail", "none found", "the observer reads them: mount them under /sys/fs/cgroup")
    return Check("cgroups", "ok", f"v{version}")


def _clock_source(source: str | None) -> Check:
    if source in FAST_CLOCKS:
        return Check("clock source", "ok", str(source))
    return Check("clock source", "warn", source or "unknown", "this clock is slow to read, which adds to a span's cost")


def _clock_synchronized(synchronized: bool | None) -> Check:
    if synchronized:
        return Check("clock", "ok", "synchronised")
    seen = "unknown" if synchronized is None else "not synchronised"
    return Check("clock", "warn", seen, "run an NTP client (chrony): setting the clock spoils a trial")


def _bridges(call_iptables: bool | None) -> Check:
    if call_iptables:
        # The engine has rules for each network, and a packet passes the rules of other networks first.
        fix = "it may cost CPU: sysctl net.bridge.bridge-nf-call-iptables=0 (until the next boot)"
        return Check("bridges", "warn", "every packet passes iptables", fix)
    return Check("bridges", "ok", "unknown" if call_iptables is None else "packets do not pass iptables")


def _governor(governor: str | None) -> Check:
    if governor in (None, "performance"):
        return Check("CPU frequency", "ok", governor or "set by the host (virtual machine)")
    return Check("CPU frequency", "warn", f"governor {governor}", "to measure: cpupower frequency-set -g performance")


def _steal(fraction: float | None) -> Check:
    if fraction is None:
        return Check("stolen CPU", "warn", "unknown", "the lab rejects trials in which the host took CPU time")
    status: Status = "fail" if fraction > STEAL_FAIL else "warn" if fraction > STEAL_WARN else "ok"
    fix = "" if status == "ok" else "the host gives this machine's CPU time to others: use another host"
    return Check("stolen CPU", status, f"{fraction:.1%}", fix)


def _other_load(fraction: float | None) -> Check:
    if fraction is None:
        return Check("other load", "warn", "unknown", "stop other programs before measuring")
    if fraction > BUSY_WARN:
        return Check("other load", "warn", f"{fraction:.0%} of all CPU time", "stop other programs: they disturb")
    return Check("other load", "ok", f"{fraction:.0%} of all CPU time")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:2]]


def _table(found: list[Check]) -> Table:
    table = Table("", "", "seen", Column("what to do", overflow="fold"), box=None, pad_edge=False)
    for check in found:
        table.add_row(Text(check.status, style=STYLES[check.status]), check.name, check.seen, check.fix)
    return table
