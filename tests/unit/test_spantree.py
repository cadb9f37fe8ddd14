import dataclasses
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lab.target.mesh.spantree import ExpectedSpan, difference
from lab.target.mesh.topology import load_topology

ROOT = Path(__file__).parents[2]
MESH = load_topology(ROOT / "experiments" / "topologies" / "mesh.yaml").expected_tree("a1")
FAN_OUT = ExpectedSpan(
    "a1",
    "server",
    (
        (ExpectedSpan("x", "client"), ExpectedSpan("y", "client"), ExpectedSpan("y", "client")),
        (ExpectedSpan("z", "client"),),
    ),
)

Spans = list[dict[str, Any]]


def recorded(expected: ExpectedSpan) -> Spans:
    """Make the spans of a trace that is as expected, in the order of their start."""
    return list(_recorded(expected, None, iter(range(100_000))))


def _recorded(expected: ExpectedSpan, parent: str | None, clock: Iterator[int]) -> Iterator[dict[str, Any]]:
    start_ns = next(clock)
    span = {"id": f"s{start_ns}", "parent": parent, "service": expected.service, "kind": expected.kind}
    yield {**span, "name": "GET", "start_ns": start_ns, "duration_ns": 1, "tags": 8}
    for child in expected.children:
        yield from _recorded(child, span["id"], clock)


def swapped(spans: Spans, one: int, other: int) -> Spans:
    """Exchange the start of two spans."""
    spans[one]["start_ns"], spans[other]["start_ns"] = spans[other]["start_ns"], spans[one]["start_ns"]
    return spans


def test_a_trace_as_predicted_does_not_differ() -> None:
    spans = recorded(MESH)
    assert len(spans) == 123
    assert difference(MESH, spans) is None


def test_the_order_in_the_file_says_nothing() -> None:
    spans = recorded(MESH)
    random.Random(1).shuffle(spans)
    assert difference(MESH, spans) is None


def test_parallel_spans_may_start_in_any_order() -> None:
    assert difference(FAN_OUT, swapped(recorded(FAN_OUT), 1, 3)) is None


def test_spans_in_sequence_may_not() -> None:
    text = difference(FAN_OUT, swapped(recorded(FAN_OUT), 1, 4))
    assert text == "server span s0 of a1: the 3 parallel spans below it are not the expected ones"


def test_parallel_spans_are_distinguished_by_what_is_below_them() -> None:
    deep = ExpectedSpan("x", "client", ((ExpectedSpan("y", "server"),),))
    flat = ExpectedSpan("x", "client")
    expected = ExpectedSpan("a1", "server", ((flat, deep),))
    assert difference(expected, recorded(dataclasses.replace(expected, steps=((deep, flat),)))) is None
    text = difference(expected, recorded(dataclasses.replace(expected, steps=((deep, deep),))))
    assert text == "server span s0 of a1: the 2 parallel spans below it are not the expected ones"


def without(index: int) -> Callable[[Spans], Spans]:
    return lambda spans: spans[:index] + spans[index + 1 :]


def changed(index: int, **fields: object) -> Callable[[Spans], Spans]:
    return lambda spans: [*spans[:index], {**spans[index], **fields}, *spans[index + 1 :]]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda spans: [], "1 span without a parent expected, not 0"),
        (without(0), "client span s1 of gateway: its parent s0 is not in the trace"),
        (without(122), "client span s121 of a1: 1 spans expected below it, not 0"),
        (lambda spans: spans[:121], "server span s2 of a1: 60 spans expected below it, not 59"),
        (changed(0, service="a1"), "server span s0 of a1: a server span of gateway expected in its place"),
        (changed(1, kind="server"), "server span s1 of gateway: a client span of gateway expected in its place"),
        (changed(4, service="a4"), "server span s4 of a4: a server span of a2 expected in its place"),
        (changed(3, parent=None), "1 span without a parent expected, not 2"),
        (changed(4, id="s5"), "1 spans have the id of another"),
        (
            lambda spans: [*spans, {**spans[0], "id": "p", "parent": "q"}, {**spans[0], "id": "q", "parent": "p"}],
            "2 spans are not below the first one",
        ),
    ],
)
def test_the_first_difference_is_reported_in_one_line(change: Callable[[Spans], Spans], text: str) -> None:
    assert difference(MESH, change(recorded(MESH))) == text


def test_thousands_of_parallel_spans_are_compared_quickly() -> None:
    wide = ExpectedSpan("a1", "server", (tuple(ExpectedSpan(f"x{i % 3}", "client") for i in range(3000)),))
    spans = recorded(wide)
    starts = [span["start_ns"] for span in spans[1:]]
    random.Random(1).shuffle(starts)
    for span, start_ns in zip(spans[1:], starts, strict=True):
        span["start_ns"] = start_ns
    assert difference(wide, spans) is None
