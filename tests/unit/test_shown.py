"""The text in which two tracers' traces are compared (tests/contract/shown.py)."""

import pytest

from tests.contract.shown import Shown, drawn, in_collector, in_jaeger, in_zipkin

LOG = """
TracesExporter\t{"resource spans": 1, "spans": 1}
ResourceSpans #0
Resource SchemaURL:
Resource attributes:
     -> telemetry.sdk.name: Str(opentelemetry)
     -> service.instance.id: Str(43b39299-0dfe-4588-9aee-e21e708bfe05)
ScopeSpans #0
ScopeSpans SchemaURL:
InstrumentationScope by-hand
Span #0
    Trace ID       : 0af7651916cd43dd8448eb211c80319c
    Parent ID      :
    ID             : b7ad6b7169203331
    Name           : GET
    Start time     : 2026-11-26 10:00:00 +0000 UTC
Attributes:
     -> tollbooth.extra.attribute_1: Str(tomcat-handler-b7ad6)
     -> server.port: Int(8080)
"""
JAEGER = [
    {
        "processes": {"p1": {"serviceName": "a1", "tags": [{"key": "host", "type": "string", "value": "x"}]}},
        "spans": [
            {
                "traceID": "t",
                "spanID": "s",
                "operationName": "GET",
                "references": [{"refType": "CHILD_OF", "traceID": "t", "spanID": "caller"}],
                "startTime": 1,
                "duration": 1,
                "processID": "p1",
                "tags": [{"key": "server.port", "type": "int64", "value": 8080}],
                "logs": [],
            }
        ],
    }
]
ZIPKIN = [[{"traceId": "t", "id": "s", "kind": "SERVER", "timestamp": 1, "tags": {"server.port": "8080"}}]]
OTHER_IDS = {"0af7": "1af7", "b7ad6": "c7ad6"}


def test_a_collectors_log_is_read() -> None:
    text = drawn(in_collector(LOG))
    lines = text.splitlines()
    assert lines[0] == "root"
    assert {"server.port: Int(8080)", "scope InstrumentationScope by-hand"} <= set(lines)
    assert "telemetry.sdk.name: of the tracer" in lines
    assert "tollbooth.extra.attribute_1: Str(tomcat-handler-<id>)" in lines
    assert "b7ad6" not in text and "2026" not in text


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        ({"opentelemetry": "tollbooth-streaming"}, True),
        ({"     -> service.instance.id: Str(43b39299-0dfe-4588-9aee-e21e708bfe05)\n": ""}, True),
        ({"Resource SchemaURL:": "Resource SchemaURL: https://opentelemetry.io/schemas/1.40.0"}, True),
        (OTHER_IDS, True),
        ({"Int(8080)": "Str(8080)"}, False),
        ({"server.port": "port"}, False),
        ({"Parent ID      :": "Parent ID      : b7ad6b7169203332"}, False),
        # Of another span than its own.
        ({"handler-b7ad6": "handler-c7ad6"}, False),
    ],
)
def test_logs_are_the_same_but_for_ids_and_the_tracers_name(changed: dict[str, str], same: bool) -> None:
    other = LOG
    for before, after in changed.items():
        other = other.replace(before, after)
    assert other != LOG
    assert (drawn(in_collector(other)) == drawn(in_collector(LOG))) is same


def test_an_answer_of_jaeger_is_read() -> None:
    first, *lines = drawn(in_jaeger(JAEGER)).splitlines()
    assert first == "of a caller"
    assert lines == [
        "name: GET",
        "references: ['CHILD_OF']",
        "resource host: string x",
        "server.port: int64 8080",
        "service: a1",
    ]


def test_an_answer_of_zipkin_is_read() -> None:
    assert drawn(in_zipkin(ZIPKIN)).splitlines() == ["root", 'kind: "SERVER"', "server.port: 8080"]


def test_spans_below_are_further_in_and_in_any_order() -> None:
    spans = [Shown("t", "1", "", ["top"]), Shown("t", "2", "1", ["b"]), Shown("t", "3", "1", ["a"])]
    assert drawn(spans) == drawn(spans[::-1]) == "root\ntop\n  a\n  b"


def test_a_span_that_is_shown_twice_is_an_error() -> None:
    twice = [Shown("t", "1", "", []), Shown("t", "1", "", [])]
    with pytest.raises(AssertionError, match="twice"):
        drawn(twice)
