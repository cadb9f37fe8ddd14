"""What the page's server says of a system under a fault: a mesh whose service a1 answers late, and sometimes not."""

import math
import time
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

SERVICES = ("a1", "a2", "a3", "a4")
PLACES = {"a1": (0.86, 0.2), "a2": (0.98, 0.4), "a3": (0.86, 0.6), "a4": (0.98, 0.8)}
SICK = "a1"
UNSEEN = ("a4", "a3")
BEGAN_S = 1_795_000_000
FAULT_LEFT_S = 581
CHOICES = {
    "telemetry": ["baseline", "otel-manual", "otel-agent", "zipkin"],
    "sampling": ["all", 0.1, 0.01],
    "topology": ["mesh", "duo"],
    "sidecar": ["none", "passthrough", "retries+timeouts"],
    "load": [1, 2, 5],
    "fault": ["none", "packet-delay", "frozen"],
}
CHOSEN = {
    "telemetry": "otel-manual", "sampling": "all", "topology": "mesh", "sidecar": "none", "load": 2,
    "fault": "packet-delay",
}  # fmt: skip


def state() -> Json:
    """Return the state of the system: version 7, a fault that ends in less than ten minutes."""
    return {
        "version": 7,
        "phase": "up",
        "message": None,
        "choice": {
            **{name: CHOSEN[name] for name in ("telemetry", "sampling", "topology", "sidecar", "fault")},
            "load_per_s": 2,
        },
        "controls": [
            {
                "name": name,
                "label": name.capitalize(),
                "values": values,
                "value": CHOSEN[name],
                "command": f"make up {name.upper()}=%s",
            }
            for name, values in CHOICES.items()
        ],
        "links": [
            {"name": "Prometheus", "url": "http://127.0.0.1:9090/"},
            {"name": "not a page", "url": "about:blank"},
        ],
        "fault_expires_unix_s": time.time() + FAULT_LEFT_S,
    }


def answers() -> dict[str, Json]:
    """Return what each address says, but for the state."""
    return {
        "/api/graph": graph(),
        "/api/containers": containers(),
        "/api/marks": marks(),
        "/api/traces": traces(),
        "/api/traces/slow": trace("slow"),
        "/api/traces/slower": trace("slower"),
        "/api/runs": {"runs": [run("quick", 2, 1.2), run("quick", 1, 1.25), run("steady", 3, 1.1)]},
    }


def graph() -> Json:
    nodes = [node("client", "client", 0.04, 0.5), node("gateway", "gateway", 0.2, 0.5)]
    nodes += [node(name, "service", *PLACES[name]) for name in SERVICES]
    return {"at_unix_s": BEGAN_S, "nodes": nodes, "edges": list(edges())}


def with_sidecars() -> Json:
    """Return the graph with an Envoy in front of each service, through which all calls go."""
    plain = graph()
    behind = {name: f"{name}-envoy" for name in ("gateway", *SERVICES)}
    envoys = [
        {**one, "id": behind[one["id"]], "label": "Envoy", "kind": "sidecar", "x": one["x"] - 0.06}
        for one in plain["nodes"]
        if one["id"] in behind
    ]
    calls = [{**one, "target": behind[one["target"]]} for one in plain["edges"]]
    inside = [edge(envoy, name, 5.0) for name, envoy in behind.items()]
    return {**plain, "nodes": plain["nodes"] + envoys, "edges": calls + inside}


def node(name: str, kind: str, x: float, y: float) -> Json:
    return {"id": name, "label": name, "kind": kind, "x": x, "y": y}


def edges() -> Iterator[Json]:
    yield edge("client", "gateway", 2.0)
    for name in SERVICES:
        yield edge("gateway", name, 0.5)
        yield from (edge(name, other, 5.0) for other in SERVICES if other != name)


FIGURES = ("requests_per_s", "error_share", "p50_ms", "p99_ms")


def edge(source: str, target: str, per_s: float) -> Json:
    sick, unseen = SICK in {source, target}, (source, target) == UNSEEN
    values = (per_s, 0.042, 112.0, 1250.0) if sick else (per_s, 0.0, 3.14, 11.2)
    figures = dict.fromkeys(FIGURES) if unseen else dict(zip(FIGURES, values, strict=True))
    return {"source": source, "target": target, **figures}


def containers() -> Json:
    roles = {"locust": "generator", "gateway": "service", **dict.fromkeys(SERVICES, "service"), "jaeger": "backend"}
    return {
        "at_unix_s": BEGAN_S,
        "window_s": 5,
        "containers": [container(name, role, index) for index, (name, role) in enumerate(roles.items())],
    }


def container(name: str, role: str, index: int) -> Json:
    history = [0.1 + 0.05 * index + 0.04 * math.sin(second / 4 + index) for second in range(60)]
    return {
        "name": name,
        "role": role,
        "cpu_cores": history[-1],
        "memory_bytes": (180 + 30 * index) * 2**20,
        "network_receive_bytes_per_s": None if role == "backend" else 45_000 + 1000 * index,
        "network_transmit_bytes_per_s": 51_000 + 1000 * index,
        "history": {"cpu_cores": history},
    }


def marks() -> Json:
    cost = {"before": estimate(22.8, 1.0), "after": estimate(27.4, 1.1)}
    latency = {"before": estimate(24.1, 2.5), "after": estimate(25.9, 2.8)}
    waiting = {"before": estimate(27.4, 1.1), "after": None}
    return {
        "marks": [
            mark(0, "telemetry baseline → otel-manual", True, cost, latency),
            mark(300, "fault none → packet-delay", False, waiting, {**waiting, "before": None}),
        ]
    }


def mark(after_s: int, change: str, settled: bool, cost: Json, latency: Json) -> Json:
    return {
        "at_unix_s": BEGAN_S + after_s,
        "change": change,
        "settled": settled,
        "label": "one start, not a finding",
        "measures": "CPU of services and sidecars",
        "cpu_ms_per_request": cost,
        "latency_ms": latency,
    }


def estimate(mean: float, half_width: float) -> Json:
    return {"mean": mean, "low": mean - half_width, "high": mean + half_width}


def traces() -> Json:
    ids = {"slow": 1890.0, "slower": 2140.0}
    return {
        "traces": [
            {
                "trace_id": name,
                "start_unix_ms": 1000 * (BEGAN_S - 10 * index),
                "duration_ms": took,
                "spans": 42,
                "root": "GET /a1",
                "slow": True,
            }
            for index, (name, took) in enumerate(ids.items())
        ]
    }


def trace(name: str) -> Json:
    spans = [span("root", None, "gateway", "GET /a1", 0, 1890), span("work", "root", "a1", "work", 6, 1880)]
    for call in range(20):
        service = SERVICES[1 + call % 3]
        began = 10 + 90.0 * call
        spans.append(span(f"c{call}", "work", "a1", f"GET {service}/answer", began, 85, error=call == 7))
        spans.append(span(f"s{call}", f"c{call}", service, "answer", began + 40, 4.5))
    return {"trace_id": name, "spans": spans}


def span(own: str, parent: str | None, service: str, name: str, start: float, took: float, error: bool = False) -> Json:
    return {
        "span_id": own, "parent_id": parent, "service": service, "name": name, "start_ms": start, "duration_ms": took,
        "error": error,
    }  # fmt: skip


def run(experiment: str, day: int, ratio: float) -> Json:
    outcomes = {"CPU per request, services": ratio, "Latency, p95": 1.02}
    rows = [
        {
            "level": level,
            "outcome": outcome,
            "ratio": found,
            "low": found - 0.03,
            "high": found + 0.03,
            "verdict": "higher" if found > 1.05 else "inconclusive",
        }
        for level in ("otel-manual", "otel-agent")
        for outcome, found in outcomes.items()
    ]
    folder = f"results/{experiment}/2026110{day}T080000Z"
    return {
        "folder": folder,
        "experiment": experiment,
        "started": f"2026-11-0{day}T08:00:00Z",
        "verdicts": {"higher": 2, "inconclusive": 2},
        "rows": rows,
        "report": None if experiment == "steady" else f"{folder}/report.html",
    }
