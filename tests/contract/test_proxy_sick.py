"""Receivers of spans that refuse, are slow, or come back: Envoy keeps serving, and every span is accounted for.

Set by the test, and by a level's faults in the middle of a trial.
"""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.backend import span_counters
from lab.engine import SystemClock, wait_until
from lab.record.faults import read_injections
from lab.target.proxy.deployment import ProxyDeployment
from lab.target.proxy.settings import CURRENT, NEEDS
from tests.contract.test_proxy import REQUESTS, all_exports_ended, ledger, running, send

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

TIMEOUT_MS, DELAY_MS = 1000, 60_000
# Every seventh request begins an export. If requests waited for those, they would take this long.
WAITING_S = REQUESTS / 7 * TIMEOUT_MS / 1000


def behave(system: ProxyDeployment, **behaviour: object) -> None:
    """Set how the sink behaves from now on."""
    status, answer = system.http.send("PUT", "SINK_PORT", "/behaviour", json.dumps(behaviour).encode())
    assert status == 204, answer


def timed(system: ProxyDeployment) -> float:
    """Send requests one after the other; return how long they took, in seconds."""
    began_s = time.monotonic()
    send(system)
    return time.monotonic() - began_s


def rejected(system: ProxyDeployment) -> int:
    return int(json.loads(system.http.get("SINK_PORT", "/counters"))["refused_spans"])


def timed_out(system: ProxyDeployment) -> int:
    return system._counters().get("cluster.receiver.upstream_rq_timeout", 0)


def lost(found: Mapping[str, float]) -> float:
    return found["spans_sent"] - found["spans_accepted"] - found["spans_refused"]


@pytest.mark.parametrize("tracer", ["opentelemetry-grpc", "opentelemetry-http", "zipkin-json"])
def test_a_receiver_that_rejects_or_is_slow_slows_no_request(tracer: str, tmp_path: Path) -> None:
    given = {"min_flush_spans": 7, "export_timeout_ms": TIMEOUT_MS}
    has_timeout = tracer in NEEDS["export_timeout_ms"]
    with running(tmp_path / "out", tracer=tracer, receiver="sink", **given) as system:
        behave(system, behaviour="refuse")
        took_s = [timed(system)]
        assert wait_until(lambda: rejected(system) == REQUESTS, 60.0, 0.1, SystemClock())
        behave(system, behaviour="slow", delay_ms=DELAY_MS)
        took_s.append(timed(system))
        # The last export may still wait. Without a timeout, all do.
        fewest = REQUESTS // 7 if has_timeout else 0
        assert wait_until(lambda: timed_out(system) >= fewest, 60.0, 0.1, SystemClock())
        found = ledger(system)
    assert max(took_s) < WAITING_S
    assert (found["requests_proxied"], found["spans_sent"], found["spans_accepted"]) == (2 * REQUESTS, 2 * REQUESTS, 0)
    assert 0 <= lost(found) <= REQUESTS
    assert has_timeout or found["exports_timed_out"] == 0


def test_of_a_proxy_that_has_ended_nothing_is_counted(tmp_path: Path) -> None:
    with running(tmp_path / "out", tracer="opentelemetry-grpc", receiver="sink") as system:
        send(system)
        system.place.driver.kill(["proxy"])
        assert ledger(system) == {}


@pytest.mark.parametrize("release", [CURRENT, "1.36"])
def test_exports_above_the_limit_of_the_circuit_breaker_are_counted(release: str, tmp_path: Path) -> None:
    given = {"min_flush_spans": 7, "receiver_max_requests": 2, "release": release}
    with running(tmp_path / "out", tracer="opentelemetry-grpc", receiver="sink", **given) as system:
        behave(system, behaviour="slow", delay_ms=DELAY_MS)
        send(system)
        found = ledger(system)
    assert found["exports"] == 2
    assert found["exports_overflowed"] >= (REQUESTS - 2 * 7) // 7
    assert lost(found) == REQUESTS


def test_a_receiver_that_comes_back_gets_later_spans_only(tmp_path: Path) -> None:
    def arrives() -> bool:
        send(system)
        return span_counters(system.http.get("COLLECTOR_METRICS_PORT", "/metrics").decode())["accepted_spans"] > 0

    with running(tmp_path / "out", tracer="opentelemetry-grpc", receiver="collector") as system:
        system.place.driver.kill(["collector"])
        send(system)
        assert wait_until(lambda: all_exports_ended(system), 30.0, 0.2, SystemClock())
        system.ready(())
        assert wait_until(arrives, 60.0, 0.2, SystemClock())
        found = ledger(system)
    assert found["spans_sent"] == found["requests_proxied"] > REQUESTS
    assert found["spans_accepted"] > 0
    assert lost(found) >= REQUESTS


def lifted(system: ProxyDeployment) -> bool:
    """Send requests; return whether the level's fault is over."""
    send(system)
    injections = read_injections(system.out / "faults.jsonl")
    return bool(injections and injections[0].lifted)


@pytest.mark.parametrize(
    ("receiver", "fault", "shows"),
    [
        ("collector", {"kind": "killed", "target": "collector"}, "spans_lost"),
        ("sink", {"kind": "slow", "target": "sink", "delay_ms": 300}, "delayed_requests"),
        ("sink", {"kind": "refusing", "target": "sink"}, "spans_refused"),
    ],
)
def test_a_level_with_a_receiver_that_falls_sick(
    receiver: str, fault: Mapping[str, object], shows: str, tmp_path: Path
) -> None:
    faults = [{**fault, "start_s": 0, "length_s": 3}]
    given = {"tracer": "opentelemetry-grpc", "receiver": receiver, "min_flush_spans": 7, "faults": faults}
    with running(tmp_path / "out", **given) as system:
        with system.measuring(system.level, 1, 0.0):
            assert wait_until(lambda: lifted(system), 60.0, 0.0, SystemClock())
        found = ledger(system)
    # Every request was answered, as `send` checks.
    assert found["requests_proxied"] == found["requests_at_server"] == found["spans_sent"]
    (injection,) = read_injections(system.out / "faults.jsonl")
    assert injection.injected is not None
    assert injection.lifted is not None
    if shows == "delayed_requests":
        assert injection.lifted.seen[shows] != injection.injected.seen[shows]
        assert lost(found) == 0
    else:
        assert {**found, "spans_lost": lost(found)}[shows] > 0
