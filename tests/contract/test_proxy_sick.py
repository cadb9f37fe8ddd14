"""Receivers of spans that refuse, are slow, or come back: Envoy keeps serving, and every span is accounted for."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.backend import span_counters
from lab.engine import SystemClock, wait_until
from lab.target.proxy.deployment import ProxyDeployment
from tests.contract.test_proxy import REQUESTS, all_exports_ended, ledger, running, send

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

TRACERS = pytest.mark.parametrize("tracer", ["opentelemetry-grpc", "opentelemetry-http", "zipkin-json"])
TIMEOUT_MS, DELAY_MS = 250, 60_000


def behave(system: ProxyDeployment, **behaviour: object) -> None:
    """Tell the sink how to behave from now on."""
    status, answer = system.http.send("PUT", "SINK_PORT", "/behaviour", json.dumps(behaviour).encode())
    assert status == 204, answer


def lost(found: Mapping[str, float]) -> float:
    return found["spans_sent"] - found["spans_accepted"] - found["spans_refused"]


@TRACERS
def test_what_a_receiver_refuses_is_counted_by_it(tracer: str, tmp_path: Path) -> None:
    with running(tmp_path / "out", tracer=tracer, receiver="sink", min_flush_spans=7) as system:
        behave(system, behaviour="refuse")
        send(system)
        found = ledger(system)
    assert (found["requests_proxied"], found["spans_sent"]) == (REQUESTS, REQUESTS)
    assert (found["spans_accepted"], found["spans_refused"], lost(found)) == (0, REQUESTS, 0)


@TRACERS
def test_a_slow_receiver_slows_no_request(tracer: str, tmp_path: Path) -> None:
    given = {"min_flush_spans": 7, "export_timeout_ms": TIMEOUT_MS}
    with running(tmp_path / "out", tracer=tracer, receiver="sink", **given) as system:
        behave(system, behaviour="slow", delay_ms=DELAY_MS)
        began_s = time.monotonic()
        send(system)
        took_s = time.monotonic() - began_s
        found = ledger(system)
    # Requests that waited for one export each would take this long.
    assert took_s < REQUESTS / 7 * TIMEOUT_MS / 1000
    assert (found["requests_proxied"], found["spans_sent"]) == (REQUESTS, REQUESTS)
    assert found["spans_accepted"] == 0
    # At most one export waits at the end: all others have timed out.
    assert found["exports"] - 1 <= found["exports_timed_out"] <= found["exports"]


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
