"""Rate, errors and latency of an arrow: from the load generator's record, from Envoys, and from traces."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lab.backend import BACKENDS, Http
from lab.page import traced
from lab.page.envoys import Envoys
from lab.page.figures import Call, Figures, Reading, Request, of_calls, of_readings, of_requests, reading, requests_of
from lab.spec.example import Counted

MS = 1_000_000
PREFIX = "cluster.inbound."

# --- requests ---------------------------------------------------------------------------------------------------------


def test_requests_are_read_line_by_line() -> None:
    lines = [
        "# tollbooth.requests v1",
        "user,target,intended_ns,start_ns,end_ns,status,bytes",
        "1,a1,1,10,30,200,5",
        "1,a1,1",
    ]
    assert requests_of(lines) == [Request(10, 30, 200)]


def test_figures_of_requests() -> None:
    requests = [Request(0, latency * MS, 200 if latency < 100 else 500) for latency in range(1, 101)]
    figures = of_requests(requests, 10.0)
    assert (figures.requests_per_s, figures.error_share, figures.p50_ms) == (10.0, 0.01, 50.5)
    assert figures.p99_ms == pytest.approx(99.01)


def test_no_request_is_a_rate_of_zero_without_latency() -> None:
    assert of_requests([], 10.0).shown() == {"requests_per_s": 0, "error_share": None, "p50_ms": None, "p99_ms": None}


# --- Envoys -----------------------------------------------------------------------------------------------------------


def stats(total: int, errors: int, p50: float | None = 3.0, p99: float | None = 9.0) -> str:
    """What Envoy answers."""
    counters = {"upstream_rq_total": total, "upstream_rq_5xx": errors}
    values = [{"interval": value, "cumulative": 1.0} for value in (1.0, p50, p99)]
    histograms = {
        "supported_quantiles": [25.0, 50.0, 99.0],
        "computed_quantiles": [{"name": f"{PREFIX}upstream_rq_time", "values": values}],
    }
    listed: list[Mapping[str, Any]] = [{"name": PREFIX + name, "value": value} for name, value in counters.items()]
    return json.dumps({"stats": [*listed, {"histograms": histograms}]})


def test_an_envoy_is_read() -> None:
    assert reading(stats(10, 2), PREFIX, True, 5.0) == Reading(5.0, 10, 2, 3.0, 9.0)
    assert reading(stats(10, 2, None, None), PREFIX, False, 5.0) == Reading(5.0, 10, None, None, None)
    assert reading('{"stats": []}', PREFIX, True, 5.0) == Reading(5.0, 0, 0, None, None)


def test_figures_are_of_what_passed_between_two_readings() -> None:
    first, second = Reading(0.0, 100, 1, 3.0, 9.0), Reading(2.0, 120, 6, 4.0, 8.0)
    assert of_readings(first, second) == Figures(10.0, 0.25, 4.0, 8.0)
    assert of_readings(first, Reading(2.0, 100, 1, None, None)) == Figures(0.0, None, None, None)
    # gRPC: errors are not seen.
    assert of_readings(Reading(0.0, 100, None, 3.0, 9.0), Reading(2.0, 120, None, 4.0, 8.0)).error_share is None


@pytest.mark.parametrize("before", [None, Reading(1.0, 500, 0, None, None), Reading(2.0, 1, 0, None, None)])
def test_a_first_reading_and_one_after_a_restart_have_no_rate(before: Reading | None) -> None:
    assert of_readings(before, Reading(2.0, 20, 1, 4.0, 8.0)) == Figures(None, None, 4.0, 8.0)


def test_an_envoy_is_read_once_and_one_that_is_silent_is_left_out() -> None:
    ports_read: list[int] = []

    def read(port: int) -> str:
        ports_read.append(port)
        if port == 2:
            raise ConnectionRefusedError
        return stats(10, 0)

    ports = iter((1, 2, 3))
    envoys = Envoys(lambda container, _: next(ports), read)
    one, other, silent = (
        Counted(container, 9901, prefix, statuses=True)
        for container, prefix in (("a1", PREFIX), ("a1", "cluster.outbound-a2."), ("a2", PREFIX))
    )
    found = envoys.figures([one, other, silent])
    assert found.keys() == {one, other}
    assert ports_read == [1, 2]
    # Its port may be another one when it is back.
    assert envoys.figures([silent]).keys() == {silent}
    assert ports_read == [1, 2, 3]


# --- traces -----------------------------------------------------------------------------------------------------------


def span(id_: str, parent: str | None, service: str, kind: str, at_ms: float, ms: float, error: bool = False) -> Any:
    times = {"start_ns": round(at_ms * MS), "duration_ns": round(ms * MS)}
    return {
        "id": id_,
        "parent": parent,
        "service": service,
        "name": kind,
        "kind": kind,
        "error": error,
        "tags": 0,
        **times,
    }


def trace(*spans: Any, trace_id: str = "00") -> Any:
    return {"trace_id": trace_id, "spans": list(spans)}


OPENTELEMETRY = trace(
    span("1", None, "gateway", "server", 0, 10),
    span("2", "1", "gateway", "client", 1, 8),
    span("3", "2", "a1", "server", 2, 6),
    span("4", "3", "a1", "client", 3, 2, error=True),
    span("5", "4", "a2", "server", 3.5, 1),
    span("6", "3", "a1", "internal", 3, 1),
)
# Both sides of a call share an ID.
BRAVE = trace(
    span("1", None, "gateway", "server", 0, 10),
    span("2", "1", "gateway", "client", 1, 8),
    span("2", "1", "a1", "server", 2, 6),
    span("3", "2", "a1", "client", 3, 2, error=True),
    span("3", "2", "a2", "server", 3.5, 1),
)


@pytest.mark.parametrize("one", [OPENTELEMETRY, BRAVE], ids=["OpenTelemetry", "Brave"])
def test_calls_are_found_and_as_long_as_the_caller_waited(one: Any) -> None:
    assert traced.calls([one]) == {("gateway", "a1"): [Call(8.0, False)], ("a1", "a2"): [Call(2.0, True)]}


@pytest.mark.parametrize("one", [OPENTELEMETRY, BRAVE], ids=["OpenTelemetry", "Brave"])
def test_every_bar_has_an_id_of_its_own_and_a_parent_that_is_there(one: Any) -> None:
    bars = traced.bars(one)["spans"]
    ids = [bar["span_id"] for bar in bars]
    assert len(set(ids)) == len(one["spans"])
    assert [bar["parent_id"] for bar in bars if bar["parent_id"] not in ids] == [None]
    assert [bar["start_ms"] for bar in bars] == sorted(bar["start_ms"] for bar in bars)
    assert {bar["service"] for bar in bars if bar["error"]} == {"a1"}


def test_figures_of_calls_are_per_request() -> None:
    calls = [Call(duration, False) for duration in (1.0, 2.0, 3.0)] + [Call(4.0, True)]
    assert of_calls(calls, 2, 5.0) == Figures(10.0, 0.25, 2.5, pytest.approx(3.97))
    assert of_calls(calls, 2, None).requests_per_s is None
    assert of_calls([], 2, 5.0) == Figures()


def test_where_nothing_passes_there_is_no_latency_of_earlier_calls() -> None:
    assert of_calls([Call(1.0, False)], 1, 0.0) == Figures(requests_per_s=0.0)


def test_slow_traces_come_first_and_of_equals_the_newest() -> None:
    durations = [1, 1, 9, 1, 1, 1, 1, 1, 1, 9]
    traces = [
        trace(span("1", None, "gateway", "server", at, duration), trace_id=str(at))
        for at, duration in enumerate(durations)
    ]
    listed = traced.listed(traces)
    assert [one["trace_id"] for one in listed] == ["9", "2", "8", "7", "6", "5", "4", "3", "1", "0"]
    assert [one["slow"] for one in listed] == [True] * 2 + [False] * 8
    assert traced.listed([]) == []


def test_a_trace_in_short_is_that_of_its_root() -> None:
    (short,) = traced.listed([OPENTELEMETRY])
    assert (short["duration_ms"], short["spans"], short["root"]) == (10.0, 6, "server")


# --- backends ---------------------------------------------------------------------------------------------------------


class Answers(Http):
    """A backend that gives these answers, by path."""

    def __init__(self, answers: Mapping[str, tuple[int, Any]]) -> None:
        super().__init__(lambda _: 1)
        object.__setattr__(self, "answers", answers)

    def send(self, method: str, port_variable: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        answers: Mapping[str, tuple[int, Any]] = self.__dict__["answers"]
        status, data = answers[path]
        return status, json.dumps(data).encode()


JAEGER: Sequence[Any] = [
    {
        "traceID": "ab",
        "processes": {"p1": {"serviceName": "gateway"}},
        "spans": [
            {
                "spanID": f"{number}",
                "processID": "p1",
                "operationName": "GET /a1",
                "references": [],
                "startTime": 1,
                "duration": 2,
                "tags": tags,
            }
            for number, tags in enumerate(
                (
                    [{"key": "error", "value": True}],
                    [{"key": "error", "value": False}],
                    [{"key": "span.kind", "value": "server"}],
                )
            )
        ],
    }
]
ZIPKIN = [
    {"traceId": "ab", "id": "1", "localEndpoint": {"serviceName": "gateway"}, "tags": {"error": "500"}},
    {"traceId": "ab", "id": "2", "localEndpoint": {"serviceName": "gateway"}},
    {"traceId": "ab", "id": "3", "localEndpoint": {"serviceName": "gateway"}, "tags": {}},
]


@pytest.mark.parametrize(
    ("name", "newest", "one", "answer", "nothing"),
    [
        ("jaeger", "traces?service=gateway&limit=5&lookback=1h", "traces?traceID=ab", {"data": JAEGER}, {"data": []}),
        (
            "zipkin",
            "v2/traces?serviceName=gateway&limit=5&lookback=3600000",
            "v2/traceMany?traceIds=ab,1",
            [ZIPKIN],
            [],
        ),
    ],
)
def test_a_backends_traces_say_which_spans_failed(
    name: str, newest: str, one: str, answer: object, nothing: object
) -> None:
    backend, newest, one = BACKENDS[name](), f"/api/{newest}", f"/api/{one}"
    backend.http = Answers({newest: (200, answer), one: (200, answer)})
    (found,) = backend.newest("gateway", 5)
    assert [span["error"] for span in found["spans"]] == [True, False, False]
    assert backend.traces(["ab"]) == [found]
    backend.http = Answers({one: (200, nothing)})
    assert backend.traces(["ab"]) == []
    backend.http = Answers({one: (500, {})})
    with pytest.raises(OSError, match="status 500"):
        backend.traces(["ab"])
