"""Writes whole results folders whose truth is known: what the analysis and the report are tested on.

Everything in a folder follows from the numbers in `Level` and `Trial`: a trial's CPU counters grow by exactly
`cpu_ms` per request that ended (times the trial's noise), its interfaces by `app_bytes`, and so on.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

SECOND_NS = 1_000_000_000
EPOCH_NS = 1_760_000_000 * SECOND_NS
SERVICES = ("gateway", "a1", "a2", "a3", "a4")
SPANS_PER_REQUEST = 123
MIB = 1 << 20


@dataclass(frozen=True)
class Level:
    """What is true of a level: per request, over all services together, after the warm-up."""

    telemetry: str = "baseline"
    cpu_ms: float = 40.0
    latency_ms: float = 60.0
    app_bytes: int = 40_000
    telemetry_bytes: int = 0
    memory_mib: float = 900.0
    backend_cpu_ms: float = 0.0
    startup_s: float = 7.0

    @property
    def traced(self) -> bool:
        """Whether the level has a backend."""
        return self.telemetry_bytes > 0


QUICK: Mapping[str, Level] = {
    "baseline": Level(),
    "placebo": Level(),
    "otel-manual": Level("otel-manual", 52.0, 78.0, 46_000, 9_000, 1000.0, 5.0, 8.0),
    "otel-agent": Level("otel-agent", 60.0, 90.0, 46_500, 11_000, 1300.0, 6.0, 13.0),
}


@dataclass(frozen=True)
class Trial:
    """One trial, and what went wrong in it; the defaults are a good one."""

    number: int
    block: int
    level: str
    truth: Level
    noise: float = 1.0
    attempt: int = 1
    position: int = 0
    valid: bool = True
    reasons: Sequence[str] = ()
    users: int = 12
    warm_up_s: int = 10
    window_s: int = 15
    interval_s: float = 1.0
    think_time_s: float = 1.0
    start_delay_ms: float = 0.2
    failed_requests: int = 0
    steal_fraction: float = 0.0
    other_load_cores: float = 0.05
    generator_cores: float = 0.15
    drift: float = 0.0
    lost_samples_s: tuple[float, float] | None = None
    restarted: str | None = None
    oom_killed: str | None = None
    spans_in_trace: int = SPANS_PER_REQUEST
    containers: Sequence[str] = field(default=SERVICES)

    @property
    def folder(self) -> str:
        """The folder's name in `trials/`."""
        suffix = f"-try{self.attempt}" if self.attempt > 1 else ""
        return f"{self.number:03d}-{self.level}{suffix}"

    @property
    def load_start_ns(self) -> int:
        """When the first user starts."""
        return EPOCH_NS + (self.number * 100 + self.attempt * 50) * SECOND_NS

    @property
    def window_start_ns(self) -> int:
        """The end of the warm-up."""
        return self.load_start_ns + self.warm_up_s * SECOND_NS

    @property
    def window_end_ns(self) -> int:
        """The end of what is measured."""
        return self.window_start_ns + self.window_s * SECOND_NS


def write_results(
    root: Path,
    *,
    levels: Mapping[str, Level] = QUICK,
    blocks: int = 3,
    trial_noise: float = 0.02,
    block_noise: float = 0.05,
    window_s: int = 15,
    seed: int = 7,
    refused: bool = True,
) -> Path:
    """Write a results folder with `blocks` trials of each level, and return it.

    Noises are standard deviations of the logarithm of CPU per request. With `refused`, the last trial of
    the first block has a refused first attempt.
    """
    rng = np.random.default_rng(seed)
    trials: list[Trial] = []
    for block in range(blocks):
        common = rng.normal(0, block_noise)
        names = [str(name) for name in rng.permutation(list(levels))]
        for position, name in enumerate(names):
            noise = float(np.exp(common + rng.normal(0, trial_noise)))
            number = len(trials) + 1
            trial = Trial(number, block, name, levels[name], noise, position=position, window_s=window_s)
            if refused and block == 0 and position == len(names) - 1:
                reason = "the host stole 9 % of its CPUs' time in the window (limit 5 %)"
                write_trial(root, replace(trial, valid=False, reasons=(reason,), steal_fraction=0.09), rng)
                trial = replace(trial, attempt=2)
            write_trial(root, trial, rng)
            trials.append(trial)
    write_json(root / "manifest.json", _manifest(levels, trials, window_s, seed))
    return root


def write_trial(root: Path, trial: Trial, rng: np.random.Generator) -> Path:
    """Write one trial's folder under `root/trials/` and return it."""
    folder = root / "trials" / trial.folder
    (folder / "ready").mkdir(parents=True)
    (folder / "logs").mkdir()
    requests = _requests(trial, rng)
    (folder / "requests.csv").write_text(_requests_text(requests))
    lines = _counter_lines(trial, requests["end_ns"], rng)
    (folder / "counters.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for name in trial.containers:
        write_json(folder / "ready" / f"{name}.json", _ready(trial, name))
        (folder / "logs" / f"{name}.log").write_text(f"{name} started\n")
    if trial.truth.traced:
        write_json(folder / "trace.json", _trace(trial))
    write_json(folder / "trial.json", _trial_json(trial, len(requests["end_ns"])))
    return folder


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write `data` to `path`, with its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))


def _requests(trial: Trial, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Run a closed loop: each user asks, waits for the answer, thinks."""
    until = trial.window_end_ns + SECOND_NS // 2
    rows: list[tuple[int, int, int, int]] = []
    for user in range(trial.users):
        t = trial.load_start_ns + user * SECOND_NS // trial.users
        while t < until:
            start = t + int(rng.exponential(trial.start_delay_ms) * 1e6)
            end = start + int(trial.truth.latency_ms * trial.noise * rng.lognormal(0, 0.3) * 1e6)
            rows.append((user, t, start, end))
            t = end + int(trial.think_time_s * (1 + 0.1 * rng.random()) * SECOND_NS)
    rows.sort(key=lambda row: row[3])
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    status = np.full(len(rows), 200)
    in_window = np.flatnonzero(columns[3] >= trial.window_start_ns)
    status[in_window[: trial.failed_requests]] = 502
    return dict(zip(("user", "intended_ns", "start_ns", "end_ns"), columns, strict=True)) | {"status": status}


def _requests_text(requests: dict[str, np.ndarray]) -> str:
    lines = ["# tollbooth.requests v1", "user,target,intended_ns,start_ns,end_ns,status,bytes"]
    columns = (requests[name] for name in ("user", "intended_ns", "start_ns", "end_ns", "status"))
    for user, intended, start, end, status in zip(*columns, strict=True):
        lines.append(f"{user},a{user % 4 + 1},{intended},{start},{end},{status},41")
    return "\n".join(lines) + "\n"


def _counter_lines(trial: Trial, ends: np.ndarray, rng: np.random.Generator) -> list[dict[str, Any]]:
    first = trial.load_start_ns - 5 * SECOND_NS
    last = trial.window_end_ns + 2 * SECOND_NS
    interval_ns = int(trial.interval_s * SECOND_NS)
    lines: list[dict[str, Any]] = [
        {
            "format": "tollbooth.counters", "version": 1, "interval_ns": interval_ns,
            "slow_interval_ns": max(interval_ns, SECOND_NS), "cgroup": "v1", "t_ns": first,
            "observer_version": "synthetic",
        }
    ]  # fmt: skip
    names = [*trial.containers, "locust", "observer", *(["jaeger"] if trial.truth.traced else [])]
    lines += [{"kind": "event", "t_ns": first, "name": name, "event": "appeared"} for name in names]
    samples = np.arange(first, last, interval_ns) + rng.integers(0, interval_ns // 100, 1)
    for t in samples.tolist():
        if trial.lost_samples_s is not None:
            lost_from, lost_to = (trial.window_start_ns + s * SECOND_NS for s in trial.lost_samples_s)
            if lost_from < t < lost_to:
                continue
        lines += _sample(trial, t, first, ends)
    if trial.restarted is not None:
        middle = trial.window_start_ns + trial.window_s * SECOND_NS // 2
        event = {"kind": "event", "t_ns": middle, "name": trial.restarted, "event": "restarted"}
        lines[1:] = sorted([*lines[1:], event], key=lambda line: line["t_ns"])
    lines.append({"kind": "event", "t_ns": last, "name": "observer", "event": "stopped"})
    return lines


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


def _sample(trial: Trial, t: int, first: int, ends: np.ndarray) -> list[dict[str, Any]]:
    elapsed = t - first
    ended = int(np.searchsorted(ends, t))
    work = _work(trial, ends, t)
    shares = _shares(trial.containers)
    truth = trial.truth
    lines: list[dict[str, Any]] = []
    lab_cpu = 0

    def container(name: str, cpu_ns: float, memory: float, switches: float) -> None:
        nonlocal lab_cpu
        lab_cpu += int(cpu_ns)
        lines.append(
            {
                "kind": "container", "t_ns": t, "name": name, "cpu_user_ns": int(cpu_ns * 0.8),
                "cpu_system_ns": int(cpu_ns * 0.2), "cpu_usage_ns": int(cpu_ns),
                "memory_working_set_bytes": int(memory), "memory_rss_bytes": int(memory * 0.95),
                "memory_usage_bytes": int(memory * 1.05), "memory_peak_bytes": int(memory * 1.1),
            }
        )  # fmt: skip
        lines.append(
            {
                "kind": "slow", "t_ns": t, "name": name, "cpu_throttled_ns": 0, "cpu_throttled_periods": 0,
                "block_read_bytes": 0, "block_write_bytes": 0, "context_switches_voluntary": int(switches),
                "context_switches_involuntary": int(switches / 10), "threads": 30, "processes": 1,
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

    for name, share in shares.items():
        memory = (
            truth.memory_mib * MIB / len(shares) * trial.noise**0.2 * (1 - 0.2 * np.exp(-elapsed / (5 * SECOND_NS)))
        )
        container(name, work * truth.cpu_ms * 1e6 * trial.noise * share, memory, ended * 120 * share)
        app = ended * truth.app_bytes * share
        network(name, "eth0", "app", app, app)
        if truth.traced:
            sent = ended * truth.telemetry_bytes * share
            network(name, "eth1", "telemetry", sent / 20, sent)
    container("locust", elapsed * trial.generator_cores * trial.noise, 80 * MIB, ended * 4)
    container("observer", elapsed * 0.005, 20 * MIB, elapsed / SECOND_NS * 20)
    if truth.traced:
        container("jaeger", work * truth.backend_cpu_ms * 1e6 * trial.noise, 120 * MIB, ended * 20)
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


def _ready(trial: Trial, name: str) -> dict[str, Any]:
    start = trial.load_start_ns - 20 * SECOND_NS
    listening = start + int(trial.truth.startup_s * SECOND_NS)
    return {
        "format": "tollbooth.ready", "version": 1, "node": name, "t_ns": listening, "process_start_ns": start,
        "spring_ready_ns": listening, "variant": trial.truth.telemetry,
        "versions": {"java": "25.0.3", "spring-boot": "4.1.2"},
    }  # fmt: skip


def _trace(trial: Trial) -> dict[str, Any]:
    """Draw the mesh's trace: the gateway, its call to a1, and a1's calls to its peers one after the other."""
    start = trial.window_start_ns
    call_ns = 1_000_000
    calls = (trial.spans_in_trace - 3) // 2
    total = calls * call_ns

    spans: list[dict[str, Any]] = []

    def span(service: str, kind: str, parent: str | None, start_ns: int, duration_ns: int) -> str:
        span_id = f"{len(spans) + 1:016x}"
        spans.append(
            {
                "id": span_id, "parent": parent, "service": service, "name": "GET", "kind": kind,
                "start_ns": start_ns, "duration_ns": duration_ns, "tags": 8,
            }
        )  # fmt: skip
        return span_id

    entry = span("gateway", "server", None, start, total + 3_000_000)
    routed = span("gateway", "client", entry, start + 500_000, total + 2_000_000)
    work = span("a1", "server", routed, start + 1_000_000, total + 1_000_000)
    for index in range(calls):
        at = start + 1_500_000 + index * call_ns
        call = span("a1", "client", work, at, 900_000)
        span(f"a{2 + index % 3}", "server", call, at + 200_000, 500_000)
    return {"format": "tollbooth.trace", "version": 1, "trace_id": f"{trial.number:032x}", "spans": spans}


def _trial_json(trial: Trial, requests: int) -> dict[str, Any]:
    roles = dict.fromkeys(trial.containers, "service") | {"locust": "generator", "observer": "observer"}
    if trial.truth.traced:
        roles["jaeger"] = "backend"
    data: dict[str, Any] = {
        "format": "tollbooth.trial", "version": 1, "number": trial.number, "attempt": trial.attempt,
        "block": trial.block, "position": trial.position, "level": trial.level,
        "settings": {"telemetry": trial.truth.telemetry, "environment": {}},
        "valid": trial.valid, "reasons": list(trial.reasons), "users": trial.users,
        "load_start_ns": trial.load_start_ns, "window_start_ns": trial.window_start_ns,
        "window_end_ns": trial.window_end_ns, "service_cpus": [0, 1], "generator_cpus": [0, 1],
        "containers": {
            name: {
                "role": role, "image": "sha256:" + "0" * 64, "restarts": int(name == trial.restarted),
                "oom_killed": name == trial.oom_killed, "exit_code": 0,
            }
            for name, role in roles.items()
        },
        "startup_s": {
            name: trial.truth.startup_s - 0.3 * index for index, name in enumerate(reversed(trial.containers))
        },
        "phases_s": {
            "create": 1.0, "start": trial.truth.startup_s + 2, "load": 25.1, "collect": 0.8, "remove": 1.5,
        },
    }  # fmt: skip
    if trial.truth.traced:
        data["expected_spans_per_request"] = SPANS_PER_REQUEST
        data["spans_in_trace"] = trial.spans_in_trace
        missing = SPANS_PER_REQUEST - trial.spans_in_trace
        data["trace_difference"] = f"{missing} spans are missing" if missing else None
        data["backend"] = {"accepted_spans": requests * SPANS_PER_REQUEST}
    return data


def _manifest(levels: Mapping[str, Level], trials: Sequence[Trial], window_s: int, seed: int) -> dict[str, Any]:
    spec = {
        "format": "tollbooth.experiment", "version": 1, "name": "synthetic",
        "title": "What does a made-up tracer cost?", "question": "Does the analysis find what was put in?",
        "topology": "mesh",
        "load": {"generator": "locust", "users": "calibrated", "baseline_cpu_fraction": 0.4,
                 "think_time_s": [1.0, 1.1]},
        "factors": {
            "telemetry": {
                name: {"telemetry": level.telemetry, "environment": {}}
                for name, level in levels.items()
                if name != "placebo"
            }
        },
        "baseline": "baseline",
        "protocol": {
            "warm_up_s": 10.0, "window_s": window_s, "repetitions": trials[-1].block + 1, "retries": 2, "seed": seed,
        },
        "observer": {"rate_hz": 1.0},
    }  # fmt: skip
    return {
        "format": "tollbooth.manifest", "version": 1, "experiment": "synthetic", "spec": spec,
        "topology": {"format": "tollbooth.topology", "version": 1, "entry": "gateway", "nodes": {}},
        "seed": seed,
        "order": [
            {"number": trial.number, "block": trial.block, "position": trial.position, "level": trial.level,
             "seed": seed + trial.block}
            for trial in trials
        ],
        "started": "2026-01-01T10:00:00+00:00", "finished": "2026-01-01T10:07:30+00:00",
        "command": "lab experiment synthetic", "durations_s": {"setup": 4.0, "trials": 430.0},
        "calibration": {
            "users": 12, "guess_users": 16, "cpu_per_request_ms": 40.0, "latency_mean_ms": 60.0,
            "target_fraction": 0.4, "service_cpus": 2,
        },
        "git_revision": "0" * 40, "images": {"tollbooth/services": "sha256:" + "0" * 64},
        "versions": {"java": "25.0.3", "spring-boot": "4.1.2"},
        "machine": {"cpus": 2, "kernel": "6.18", "memory_bytes": 24 << 30},
    }  # fmt: skip
