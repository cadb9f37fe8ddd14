"""Receivers of spans that refuse, are slow, or come back: Envoy keeps serving, and every span is accounted for."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.backend import span_counters
from lab.engine import SystemClock, wait_until
from lab.target.proxy.deployment import ProxyDeployment
from lab.target.proxy.settings import NEEDS
from tests.contract.test_proxy import REQUESTS, all_exports_ended, ledger, running, send

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

TIMEOUT_MS, DELAY_MS = 1000, 60_000
# Every seventh request begins an export. If requests waited for those, they would take this long.
WAITING_S = REQUESTS / 7 * TIMEOUT_MS / 1000


def behave(system: ProxyDeployment, **behaviour: object) -> None:
    """Tell the sink how to behave from now on."""
    status, answer = system.http.send("PUT", "SINK_PORT", "/behaviour", json.dumps(behaviour).encode())
    assert status == 204, answer


def timed(system: ProxyDeployment) -> float:
    """Send requests one after the other; return how long they took, in seconds."""
    began_s = time.monotonic()
    send(system)
    return time.monotonic() - began_s


def refused(system: ProxyDeployment) -> int:
    return int(json.loads(system.http.get("SINK_PORT", "/counters"))["refused_spans"])


def timed_out(system: ProxyDeployment) -> int:
    return system._counters().get("cluster.receiver.upstream_rq_timeout", 0)


def lost(found: Mapping[str, float]) -> float:
    return found["spans_sent"] - found["spans_accepted"] - found["spans_refused"]


@pytest.mark.parametrize("tracer", ["opentelemetry-grpc", "opentelemetry-http", "zipkin-json"])
def test_a_receiver_that_refuses_or_is_slow_slows_no_request(tracer: str, tmp_path: Path) -> None:
    given = {"min_flush_spans": 7, "export_timeout_ms": TIMEOUT_MS}
    has_timeout = tracer in NEEDS["export_timeout_ms"]
    with running(tmp_path / "out", tracer=tracer, receiver="sink", **given) as system:
        behave(system, behaviour="refuse")
        took_s = [timed(system)]
        assert wait_until(lambda: refused(system) == REQUESTS, 20.0, 0.1, SystemClock())
        behave(system, behaviour="slow", delay_ms=DELAY_MS)
        took_s.append(timed(system))
        # The last export may still wait. Without a timeout, all do.
        fewest = REQUESTS // 7 if has_timeout else 0
        assert wait_until(lambda: timed_out(system) >= fewest, 20.0, 0.1, SystemClock())
        found = ledger(system)
    assert max(took_s) < WAITING_S
    assert (found["requests_proxied"], found["spans_sent"], found["spans_accepted"]) == (2 * REQUESTS, 2 * REQUESTS, 0)
    assert 0 <= lost(found) <= REQUESTS
    assert has_timeout or found["exports_timed_out"] == 0


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
