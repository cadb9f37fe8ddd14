"""The properties of this machine that matter to a measurement. Parsers read text, the reader has root paths."""

import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STEAL_INTERVAL_S = 0.5
COMMAND_BOUND_S = 10.0
SEPARATE_CPUS_FROM = 4
# The kernel's adjtimex(2) answers so while nothing disciplines the clock.
TIME_ERROR = 5

Run = Callable[[Sequence[str]], str | None]


@dataclass(frozen=True)
class Machine:
    """A machine as its engine's containers see it. None: it could not be known."""

    cores: int
    cpu_model: str | None
    cpu_governor: str | None
    memory_bytes: int | None
    memory_available_bytes: int | None
    disk_free_bytes: int
    kernel: str
    os: str
    cgroup_version: int | None
    clock_source: str | None
    clock_synchronized: bool | None
    bridge_calls_iptables: bool | None
    steal_fraction: float | None
    busy_fraction: float | None
    load_average_1m: float | None
    engine_version: str | None
    compose_version: str | None
    buildx_version: str | None


@dataclass(frozen=True)
class CpuSplit:
    """Which CPUs the services may use, and which everything else (generator, observer, backends)."""

    services: tuple[int, ...]
    generator: tuple[int, ...]

    def variables(self) -> dict[str, str]:
        """Return the variables of `compose.yaml` that hold them, as the kernel writes sets of CPUs: `0,1`."""
        return {"SERVICE_CPUS": ",".join(map(str, self.services)), "OTHER_CPUS": ",".join(map(str, self.generator))}


@dataclass(frozen=True)
class CpuTimes:
    """Ticks of all CPUs together since boot."""

    total: int
    idle: int
    steal: int


def split_cpus(cores: int, own_cpus: bool = False) -> CpuSplit:
    """Shares `cores` CPUs out: from four on a quarter is kept for everything but the services, below all share all.

    `own_cpus`: not even two are shared.
    """
    every = tuple(range(cores))
    if cores < (2 if own_cpus else SEPARATE_CPUS_FROM):
        return CpuSplit(every, every)
    others = max(1, cores // 4)
    return CpuSplit(every[:-others], every[-others:])


def engine_cores(run: Run | None = None) -> int:
    """How many CPUs containers can have: the engine's machine may be another than the command's (Docker Desktop)."""
    return int(_engine_info(run or run_command).get("NCPU") or os.cpu_count() or 1)


def engine_memory_bytes(run: Run | None = None) -> int | None:
    """The memory of all containers together; None if the engine does not report it."""
    return int(_engine_info(run or run_command).get("MemTotal", 0)) or None


def _engine_info(run: Run) -> dict[str, Any]:
    return parse_engine_info(run(["docker", "info", "--format", "{{json .}}"]))


def read_machine(
    proc_root: Path,
    sys_root: Path,
    *,
    run: Run | None = None,
    pause: Callable[[float], None] = time.sleep,
) -> Machine:
    """Reads the machine; takes `STEAL_INTERVAL_S` to measure how its CPUs are used.

    `run` returns a command's output, or None if it fails.
    """
    run = run or run_command
    engine = _engine_info(run)
    # An engine in a virtual machine names a folder that is not here.
    folder = Path(engine.get("DockerRootDir") or "")
    memory = parse_meminfo(_text(proc_root / "meminfo"))
    before = parse_cpu_times(_text(proc_root / "stat"))
    pause(STEAL_INTERVAL_S)
    stolen, busy = used_fractions(before, parse_cpu_times(_text(proc_root / "stat")))
    return Machine(
        cores=engine.get("NCPU") or os.cpu_count() or 1,
        cpu_model=parse_cpu_model(_text(proc_root / "cpuinfo")),
        cpu_governor=_text(sys_root / "devices/system/cpu/cpu0/cpufreq/scaling_governor").strip() or None,
        memory_bytes=engine.get("MemTotal") or memory.get("MemTotal"),
        memory_available_bytes=memory.get("MemAvailable"),
        disk_free_bytes=shutil.disk_usage(folder if folder.exists() else Path.cwd()).free,
        kernel=engine.get("KernelVersion") or platform.release(),
        os=engine.get("OperatingSystem") or parse_os_release(_text(Path("/etc/os-release"))) or platform.platform(),
        cgroup_version=int(engine.get("CgroupVersion", 0)) or read_cgroup_version(sys_root),
        clock_source=_text(sys_root / "devices/system/clocksource/clocksource0/current_clocksource").strip() or None,
        clock_synchronized=clock_synchronized(),
        bridge_calls_iptables=parse_switch(_text(proc_root / "sys/net/bridge/bridge-nf-call-iptables")),
        steal_fraction=stolen,
        busy_fraction=busy,
        load_average_1m=float(load.split(maxsplit=1)[0]) if (load := _text(proc_root / "loadavg")) else None,
        engine_version=engine.get("ServerVersion") or None,
        compose_version=parse_version(run(["docker", "compose", "version", "--short"])),
        buildx_version=parse_version(run(["docker", "buildx", "version"])),
    )


def parse_engine_info(text: str | None) -> dict[str, Any]:
    """The output of `docker info`; empty without an engine (it then still prints the client's part)."""
    try:
        info = json.loads(text or "{}")
    except ValueError:
        return {}
    return info if info.get("ServerVersion") else {}


def parse_version(text: str | None) -> str | None:
    """The first version number in a program's own words."""
    return found[0] if (found := re.search(r"\d+\.\d+(\.\d+)?", text or "")) else None


def parse_meminfo(text: str) -> dict[str, int]:
    """`/proc/meminfo` in bytes."""
    return {match[1]: int(match[2]) * 1024 for match in re.finditer(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)}


def parse_cpu_model(text: str) -> str | None:
    """The CPU's name in `/proc/cpuinfo`; other architectures than x86 leave it out."""
    return found[1].strip() if (found := re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)) else None


def parse_cpu_times(text: str) -> CpuTimes | None:
    """The line of all CPUs in `/proc/stat`: user nice system idle iowait irq softirq steal (guest is inside user)."""
    found = re.search(r"^cpu +(.+)$", text, re.MULTILINE)
    if not found:
        return None
    ticks = [int(field) for field in found[1].split()[:8]]
    return CpuTimes(total=sum(ticks), idle=ticks[3] + ticks[4], steal=ticks[7] if len(ticks) > 7 else 0)


def parse_switch(text: str) -> bool | None:
    """A setting of the kernel that is 0 or 1; None if it does not exist."""
    return text.strip() == "1" if text else None


def parse_os_release(text: str) -> str | None:
    """The distribution's own name in `/etc/os-release`."""
    return found[1] if (found := re.search(r'^PRETTY_NAME="?(.+?)"?$', text, re.MULTILINE)) else None


def used_fractions(before: CpuTimes | None, after: CpuTimes | None) -> tuple[float | None, float | None]:
    """The shares of CPU time in between: what the host took away, and what something used."""
    if not before or not after or after.total <= before.total:
        return None, None
    total = after.total - before.total
    return (after.steal - before.steal) / total, 1 - (after.idle - before.idle) / total


def read_cgroup_version(sys_root: Path) -> int | None:
    """2 if only the unified hierarchy is mounted, 1 if controllers have separate hierarchies."""
    if (sys_root / "fs/cgroup/cgroup.controllers").exists():
        return 2
    return 1 if (sys_root / "fs/cgroup/cpuacct").exists() else None


def clock_synchronized() -> bool | None:
    """Whether the kernel reports a synchronised clock (NTP, a hypervisor)."""
    try:
        adjtimex = ctypes.CDLL(None).adjtimex
    except (AttributeError, OSError):
        return None
    # A zeroed struct timex (208 bytes on 64-bit Linux) only reads.
    state: int = adjtimex(ctypes.create_string_buffer(512))
    return None if state < 0 else state != TIME_ERROR


def run_command(command: Sequence[str]) -> str | None:
    """The command's output; None if it is missing, fails or takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_BOUND_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
