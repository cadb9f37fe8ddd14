"""Writes `counters.jsonl` of a made-up trial."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.synthetic.truth import MIB, SECOND_NS, Trial

BACKEND_MIB = 120
EDENS = (24 * MIB, 32 * MIB)
"""What eden holds: the collector changes its mind each time."""
GC_NS = 4_000_000
JIT_NS = 12_000_000_000
JIT_TAKES_NS = 8 * SECOND_NS
CLASSES = 11_000
THREADS = 40
JIT_ON_CPU = 0.75
"""The part of a compilation's time in which its thread has a CPU."""
EXPORT_NS = 3_000_000
"""CPU time to export the spans of a request."""


def counter_lines(trial: Trial, ends: np.ndarray, rng: np.random.Generator) -> list[dict[str, Any]]:
    lines = beginning(trial)
    for t in times_ns(trial, rng):
        if trial.lost_samples_s is not None:
            lost_from, lost_to = (trial.window_start_ns + s * SECOND_NS for s in trial.lost_samples_s)
            if lost_from < t < lost_to:
                continue
        lines += sample(trial, t, ends)
    if trial.restarted is not None:
        middle = trial.window_start_ns + trial.window_s * SECOND_NS // 2
        event = {"kind": "event", "t_ns": middle, "name": trial.restarted, "event": "restarted"}
        lines[1:] = sorted([*lines[1:], event], key=lambda line: line["t_ns"])
    return [*lines, stopped(trial)]


def encoded(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return lines as JSON: encoded all at once, which takes half as long. No line has an object in it."""
    return json.dumps(lines)[1:-1].replace("}, {", "}\n{") + "\n"


def _first_ns(trial: Trial) -> int:
    return trial.load_start_ns - 5 * SECOND_NS


def _last_ns(trial: Trial) -> int:
    return trial.window_end_ns + 2 * SECOND_NS


def beginning(trial: Trial) -> list[dict[str, Any]]:
    """Return the lines before the first sample."""
    first, interval_ns = _first_ns(trial), int(trial.interval_s * SECOND_NS)
    lines: list[dict[str, Any]] = [
        {
            "format": "tollbooth.counters", "version": 1, "interval_ns": interval_ns,
            "slow_interval_ns": max(interval_ns, SECOND_NS), "cgroup": "v1", "t_ns": first,
            "observer_version": "synthetic",
        }
    ]  # fmt: skip
    names = [*trial.containers, "locust", "observer", *(["jaeger"] if trial.truth.traced else [])]
    return lines + [{"kind": "event", "t_ns": first, "name": name, "event": "appeared"} for name in names]


def times_ns(trial: Trial, rng: np.random.Generator) -> list[int]:
    """Return when the samples are taken."""
    interval_ns = int(trial.interval_s * SECOND_NS)
    samples = np.arange(_first_ns(trial), _last_ns(trial), interval_ns) + rng.integers(0, interval_ns // 100, 1)
    found: list[int] = samples.tolist()
    return found


def stopped(trial: Trial) -> dict[str, Any]:
    """Return the last line."""
    return {"kind": "event", "t_ns": _last_ns(trial), "name": "observer", "event": "stopped"}


def _shares(names: Sequence[str]) -> dict[str, float]:
    """Each service's part of the whole: the gateway has little, the others the same."""
    rest = 0.9 / max(1, len(names) - 1)
    return {name: 0.1 if name == "gateway" else rest for name in names}


def _work(trial: Trial, ends: np.ndarray, t: int) -> float:
    """Count the requests that ended until `t`, the early ones (warm-up) up to three times."""
    ended = ends[ends <= t]
    warm_up = 1 + 2 * np.exp(-(ended - trial.load_start_ns) / (1.5 * SECOND_NS))
    in_window = np.clip((ended - trial.window_start_ns) / (trial.window_s * SECOND_NS), 0, 1)
    return float(np.sum(warm_up * (1 + trial.drift * in_window)))


def sample(trial: Trial, t: int, ends: np.ndarray) -> list[dict[str, Any]]:
    """Return the lines of one sample. They depend on the requests that ended until then, and on no later one."""
    elapsed = t - _first_ns(trial)
    ended = int(np.searchsorted(ends, t))
    work = _work(trial, ends, t)
    shares = _shares(trial.containers)
    truth = trial.truth
    lines: list[dict[str, Any]] = []
    lab_cpu = 0

    def container(name: str, cpu_ns: float, memory: float, switches: float, **threads_ns: int) -> None:
        nonlocal lab_cpu
        lab_cpu += int(cpu_ns)
        lines.append(
            {
                "kind": "container", "t_ns": t, "name": name, "cpu_user_ns": int(cpu_ns * 0.8),
                "cpu_system_ns": int(cpu_ns * 0.2), "cpu_usage_ns": int(cpu_ns),
                "memory_working_set_bytes": int(memory), "memory_rss_bytes": int(memory * 0.95),
                "memory_page_cache_bytes": int(memory * 0.1), "memory_usage_bytes": int(memory * 1.05),
                "memory_peak_bytes": int(memory * 1.1),
            }
        )  # fmt: skip
        lines.append(
            {
                "kind": "slow", "t_ns": t, "name": name, "cpu_throttled_ns": 0, "cpu_throttled_periods": 0,
                "block_read_bytes": 0, "block_write_bytes": 0, "context_switches_voluntary": int(switches),
                "context_switches_involuntary": int(switches / 10), "threads": 30, "processes": 1, **threads_ns,
            }
        )  # fmt: skip

    def network(name: str, interface: str, plane: str, rx: float, tx: float) -> None:
        lines.append(
            {
                "kind": "network", "t_ns": t, "name": name, "interface": interface, "network": plane,
                "rx_bytes": int(rx), "rx_packets": int(rx / 500), "rx_dropped": 0, "tx_bytes": int(tx),
                "tx_packets": int(tx / 500), "tx_dropped": 0,
            }
        )  # fmt: skip

    memory = truth.memory_mib * MIB / len(shares) * trial.noise**0.2 * (1 - 0.2 * np.exp(-elapsed / (5 * SECOND_NS)))
    jit_ns = int(JIT_NS / 5 * (1 - np.exp(-elapsed / JIT_TAKES_NS)))
    for name, share in shares.items():
        jvm = _jvm(name, t, elapsed, jit_ns, ended * truth.allocated_bytes * share)
        lines.append(jvm)
        container(
            name, work * truth.cpu_ms * 1e6 * trial.noise * share, memory, ended * 120 * share,
            jit_cpu_ns=int(jvm["jit_time_ns"] * JIT_ON_CPU), gc_cpu_ns=jvm["young_gc_time_ns"],
            exporter_cpu_ns=int(ended * EXPORT_NS * share) if truth.traced else 0,
        )  # fmt: skip
        app = ended * truth.app_bytes * share
        network(name, "eth0", "app", app, app)
        if truth.traced:
            sent = ended * truth.telemetry_bytes * share
            network(name, "eth1", "telemetry", sent / 20, sent)
    container("locust", elapsed * trial.generator_cores * trial.noise, 80 * MIB, ended * 4)
    container("observer", elapsed * 0.005, 20 * MIB, elapsed / SECOND_NS * 20)
    if truth.traced:
        container("jaeger", work * truth.backend_cpu_ms * 1e6 * trial.noise, BACKEND_MIB * MIB, ended * 20)
        received = ended * truth.telemetry_bytes
        network("jaeger", "eth0", "telemetry", received, received / 20)

    cpus = 2
    steal = int(elapsed * cpus * trial.steal_fraction)
    busy = lab_cpu + int(elapsed * trial.other_load_cores)
    lines.append(
        {
            "kind": "host", "t_ns": t, "cpus": cpus, "cpu_user_ns": int(busy * 0.8), "cpu_nice_ns": 0,
            "cpu_system_ns": int(busy * 0.2), "cpu_idle_ns": max(0, elapsed * cpus - busy - steal),
            "cpu_iowait_ns": 0, "cpu_irq_ns": 0, "cpu_softirq_ns": 0, "cpu_steal_ns": steal,
            "context_switches": ended * 200, "memory_available_bytes": 16 << 30, "pressure_cpu_some_us": 0,
            "frequency_hz": [2_600_000_000] * cpus,
        }
    )  # fmt: skip
    lines.append(
        {
            "kind": "observer", "t_ns": t, "cpu_ns": int(elapsed * 0.005), "rss_bytes": 12 * MIB,
            "samples": elapsed // SECOND_NS, "errors": 0, "missed_ticks": 0,
        }
    )  # fmt: skip
    return lines


def _jvm(name: str, t: int, elapsed: int, jit_ns: int, allocated: float) -> dict[str, Any]:
    """Say of `allocated` bytes how often they filled eden, and what is left in it."""
    both = sum(EDENS)
    emptied = 2 * int(allocated // both)
    left = int(allocated % both)
    if left >= EDENS[0]:
        emptied, left = emptied + 1, left - EDENS[0]
    return {
        "kind": "jvm", "t_ns": t, "name": name, "eden_used_bytes": left, "eden_capacity_bytes": EDENS[emptied % 2],
        "young_gc_count": emptied, "young_gc_time_ns": emptied * GC_NS, "full_gc_count": 0, "full_gc_time_ns": 0,
        "jit_time_ns": jit_ns, "jit_compilations": elapsed // 10**7,
        "classes_loaded": CLASSES, "threads_live": THREADS,
    }  # fmt: skip
