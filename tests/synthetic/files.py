"""Writes the folders of a made-up run and of its trials."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.synthetic.counters import counter_lines, encoded
from tests.synthetic.truth import QUICK, SECOND_NS, SPANS_PER_REQUEST, Level, Trial


def write_results(
    root: Path,
    *,
    levels: Mapping[str, Level] = QUICK,
    blocks: int = 3,
    trial_noise: float = 0.02,
    block_noise: float = 0.05,
    window_s: int = 15,
    seed: int = 7,
    rejected: bool = True,
    factors: Mapping[str, Sequence[str]] | None = None,
    views: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write a results folder with `blocks` trials of each level, and return it.

    Noises are standard deviations of the logarithm of CPU per request. With `rejected`, the last trial of
    the first block has a rejected first attempt. `factors`: the names of their levels, where there is more than one;
    `views`: the experiment's.
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
            if rejected and block == 0 and position == len(names) - 1:
                reason = "the host stole 9 % of its CPUs' time in the window (limit 5 %)"
                write_trial(root, replace(trial, valid=False, reasons=(reason,), steal_fraction=0.09), rng)
                trial = replace(trial, attempt=2)
            write_trial(root, trial, rng)
            trials.append(trial)
    manifest = _manifest(_factors(levels, factors), trials, window_s, seed)
    manifest["spec"]["views"] = views
    write_json(root / "manifest.json", manifest)
    return root


def write_trial(root: Path, trial: Trial, rng: np.random.Generator) -> Path:
    """Write one trial's folder under `root/trials/` and return it."""
    folder = root / "trials" / trial.folder
    (folder / "ready").mkdir(parents=True)
    (folder / "logs").mkdir()
    requests = _requests(trial, rng)
    (folder / "requests.csv").write_text(_requests_text(requests))
    lines = counter_lines(trial, requests["end_ns"], rng)
    (folder / "counters.jsonl").write_text(encoded(lines))
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
    """Run a closed loop: each user sends, waits for the answer, thinks."""
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
                "start_ns": start_ns, "duration_ns": duration_ns, "tags": trial.truth.tags,
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
        "format": "tollbooth.trial", "version": 2, "number": trial.number, "attempt": trial.attempt,
        "block": trial.block, "position": trial.position, "level": trial.level,
        "settings": {"telemetry": trial.truth.telemetry, "environment": {}},
        "valid": trial.valid, "reasons": list(trial.reasons), "found": {"users": trial.users},
        "window": {"load_start_ns": trial.load_start_ns, "start_ns": trial.window_start_ns,
                   "end_ns": trial.window_end_ns},
        "streams": {
            name: {"version": 1, "files": {"local": file}}
            for name, file in (("requests", "requests.csv"), ("counters", "counters.jsonl"), ("trace", "trace.json"))
            if name != "trace" or trial.truth.traced
        },
        "service_cpus": [0, 1], "generator_cpus": [0, 1],
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
        data["backend"] = {
            "accepted_spans": requests * SPANS_PER_REQUEST - trial.truth.lost_spans,
            "counters": {"metrics_per_service": 97},
        }
    return data


def _factors(levels: Mapping[str, Level], named: Mapping[str, Sequence[str]] | None) -> dict[str, Any]:
    if named is not None:
        return {factor: {name: {} for name in names} for factor, names in named.items()}
    own = {name: level for name, level in levels.items() if name != "placebo"}
    return {"telemetry": {name: {"telemetry": level.telemetry, "environment": {}} for name, level in own.items()}}


def _manifest(factors: Mapping[str, Any], trials: Sequence[Trial], window_s: int, seed: int) -> dict[str, Any]:
    spec = {
        "format": "tollbooth.experiment", "version": 2, "name": "synthetic",
        "title": "What does a made-up tracer cost?", "question": "Does the analysis find what was put in?",
        "target": {"kind": "mesh", "topology": "mesh"},
        "load": {"generator": "locust", "schedule": {"kind": "closed-loop", "users": "calibrated",
                 "baseline_cpu_fraction": 0.4, "think_time_s": [1.0, 1.1]}},
        "factors": factors,
        "baseline": "/".join(next(iter(names)) for names in factors.values()),
        "protocol": {
            "warm_up_s": 10.0, "window_s": window_s, "repetitions": trials[-1].block + 1, "retries": 2, "seed": seed,
        },
        "observer": {"rate_hz": 1.0},
    }  # fmt: skip
    return {
        "format": "tollbooth.manifest", "version": 2, "experiment": "synthetic", "spec": spec,
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
