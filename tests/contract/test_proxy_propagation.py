"""What each tracer of Envoy reads of a client's context, what it passes on, and that both are what it stores."""

import json
import re
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.engine import SystemClock, wait_until
from lab.target.proxy.deployment import ROUTES, SERVER_ADMIN, ProxyDeployment
from tests.contract.test_proxy import ledger, running

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

TRACE, SPAN, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00f067aa0ba902b7"
W3C = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "lab=1"}
B3 = {"x-b3-traceid": TRACE, "x-b3-spanid": SPAN, "x-b3-parentspanid": PARENT, "x-b3-sampled": "1"}
TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])")


def passed_on(system: ProxyDeployment, headers: Mapping[str, str]) -> Mapping[str, str]:
    """Send a request with headers; return those that the test server got."""
    request = urllib.request.Request(system.http.url("PROXY_PORT", f"/{ROUTES[0]}"), headers=dict(headers))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=10) as answer:
        assert answer.read() == b"0123456789"
    got = json.loads(system.http.get(SERVER_ADMIN, "/headers"))["headers"]
    return {name.lower(): value for name, (value,) in got.items()}


def stored(system: ProxyDeployment, trace: str) -> Mapping[str, Any]:
    """Return the only span of a trace that the sink got."""
    found: list[Mapping[str, Any]] = []

    def arrived() -> bool:
        found[:] = json.loads(system.http.get("SINK_PORT", f"/spans?trace={trace}"))["spans"]
        return bool(found)

    assert wait_until(arrived, 60.0, 0.1, SystemClock())
    (span,) = found
    return span


def parts(traceparent: str) -> tuple[str, str, str]:
    """Return trace ID, span ID and flags."""
    found = TRACEPARENT.fullmatch(traceparent)
    assert found
    return found[1], found[2], found[3]


@pytest.mark.parametrize("tracer", ["opentelemetry-grpc", "opentelemetry-http"])
def test_opentelemetry_reads_w3c_only(tracer: str, tmp_path: Path) -> None:
    with running(tmp_path / "out", tracer=tracer, receiver="sink", min_flush_spans=1) as system:
        # It continues the client's trace.
        got = passed_on(system, W3C)
        trace, span, flags = parts(got["traceparent"])
        assert (trace, flags, got["tracestate"]) == (TRACE, "01", "lab=1")
        assert span != SPAN
        one = stored(system, TRACE)
        assert (one["id"], one["parent"], one["kind"]) == (span, SPAN, "server")
        # It passes B3 on, and begins a trace of its own.
        got = passed_on(system, B3)
        assert {name: got[name] for name in B3} == B3
        trace, span, flags = parts(got["traceparent"])
        assert trace != TRACE
        assert flags == "01"
        one = stored(system, trace)
        assert (one["id"], one["parent"]) == (span, None)
        # The client has to want a span: the connection manager samples all.
        got = passed_on(system, {"traceparent": f"00-{TRACE}-{SPAN}-00"})
        assert parts(got["traceparent"])[2] == "00"
        found = ledger(system)
    assert (found["requests_proxied"], found["spans_sent"], found["spans_accepted"]) == (3, 2, 2)


def kept(tracer: str, span: str) -> str:
    """Return the ID that Zipkin's tracer stores of a span.

    Envoy 1.40 writes it to protobuf with its last byte first, on a little-endian machine: not the ID of the headers.
    """
    return bytes.fromhex(span)[::-1].hex() if tracer == "zipkin-protobuf" else span


@pytest.mark.parametrize("tracer", ["zipkin-json", "zipkin-protobuf"])
def test_zipkin_reads_b3_only(tracer: str, tmp_path: Path) -> None:
    with running(tmp_path / "out", tracer=tracer, receiver="sink", min_flush_spans=1) as system:
        # By default it gives the server's half of a call the client's span ID.
        got = passed_on(system, B3)
        assert {name: got[name] for name in B3} == B3
        one = stored(system, TRACE)
        assert (one["id"], one["parent"], one["kind"]) == (kept(tracer, SPAN), kept(tracer, PARENT), "server")
        # It passes W3C on, whatever its flag, and begins a trace of its own.
        for flags in ("01", "00"):
            sent = {**W3C, "traceparent": f"00-{TRACE}-{SPAN}-{flags}"}
            got = passed_on(system, sent)
            assert {name: got[name] for name in sent} == sent
            assert got["x-b3-traceid"] != TRACE
            assert got["x-b3-sampled"] == "1"
            one = stored(system, got["x-b3-traceid"])
            assert (one["id"], one["parent"]) == (kept(tracer, got["x-b3-spanid"]), None)
        # The client has to want a span.
        assert passed_on(system, {**B3, "x-b3-sampled": "0"})["x-b3-sampled"] == "0"
        found = ledger(system)
    assert (found["requests_proxied"], found["spans_sent"], found["spans_accepted"]) == (4, 3, 3)


def test_the_proxy_has_to_want_a_span_too(tmp_path: Path) -> None:
    given = {"tracer": "opentelemetry-grpc", "receiver": "sink", "min_flush_spans": 1, "random_sampling_percent": 0.0}
    with running(tmp_path / "out", **given) as system:
        got = passed_on(system, W3C)
        found = ledger(system)
    trace, _, flags = parts(got["traceparent"])
    assert (trace, flags, found["spans_sent"]) == (TRACE, "00", 0)
