"""The tree of spans that a topology predicts, and how a recorded trace differs from it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Span = Mapping[str, Any]


@dataclass(frozen=True)
class ExpectedSpan:
    """A span that a traced request makes, and the spans below it.

    `steps` follow one another in time; the spans of one step run at the same time, in no order.
    """

    service: str
    kind: Literal["server", "client"]
    steps: tuple[tuple["ExpectedSpan", ...], ...] = ()

    @property
    def children(self) -> tuple["ExpectedSpan", ...]:
        """The spans directly below, in order."""
        return tuple(span for step in self.steps for span in step)


def difference(expected: ExpectedSpan, spans: Sequence[Span]) -> str | None:
    """Return in one line how a trace's spans first differ from the prediction; None if they do not.

    `spans` are those of `trace.json`. Spans at the same time may come in any order.
    """
    ids = {span["id"] for span in spans}
    if len(ids) < len(spans):
        return f"{len(spans) - len(ids)} spans have the id of another"
    below: dict[str | None, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: span["start_ns"]):
        if span["parent"] is not None and span["parent"] not in ids:
            return f"{_named(span)}: its parent {span['parent']} is not in the trace"
        below[span["parent"]].append(span)
    if len(below[None]) != 1:
        return f"1 span without a parent expected, not {len(below[None])}"
    return _difference_below(expected, below[None][0], below) or _unreached(below)


def _difference_below(expected: ExpectedSpan, span: Span, below: Mapping[str | None, list[Span]]) -> str | None:
    pending = [(expected, span)]
    while pending:
        wanted, seen = pending.pop()
        if (wanted.service, wanted.kind) != (seen["service"], seen["kind"]):
            return f"{_named(seen)}: a {wanted.kind} span of {wanted.service} expected in its place"
        children = below.get(seen["id"], [])
        if len(children) != len(wanted.children):
            return f"{_named(seen)}: {len(wanted.children)} spans expected below it, not {len(children)}"
        pairs: list[tuple[ExpectedSpan, Span]] = []
        for step in wanted.steps:
            candidates = children[len(pairs) : len(pairs) + len(step)]
            if len(step) > 1:
                candidates = _matched(step, candidates, below)
            if not candidates:
                return f"{_named(seen)}: the {len(step)} parallel spans below it are not the expected ones"
            pairs += zip(step, candidates, strict=True)
        pending += reversed(pairs)
    return None


def _matched(
    step: tuple[ExpectedSpan, ...], candidates: list[Span], below: Mapping[str | None, list[Span]]
) -> list[Span]:
    """Return the candidates in the order of the expected spans that they fit; None if one fits nothing."""
    left = list(candidates)
    matched = []
    for wanted in step:
        fitting = next((span for span in left if _difference_below(wanted, span, below) is None), None)
        if fitting is None:
            return []
        left.remove(fitting)
        matched.append(fitting)
    return matched


def _unreached(below: Mapping[str | None, list[Span]]) -> str | None:
    """Find spans that are each other's parents: they hang below nothing."""
    reached = 0
    pending = list(below[None])
    while pending:
        reached += 1
        pending += below.get(pending.pop()["id"], [])
    stray = sum(map(len, below.values())) - reached
    return f"{stray} spans are not below the first one" if stray else None


def _named(span: Span) -> str:
    return f"{span['kind']} span {span['id']} of {span['service']}"
