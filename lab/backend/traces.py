"""Traces in the form of `trace.json` (docs/formats.md)."""

from collections.abc import Iterable
from typing import Any


def record(trace_id: str, spans: Iterable[dict[str, object]]) -> dict[str, Any]:
    """A trace as `trace.json` has it."""
    return {"format": "tollbooth.trace", "version": 1, "trace_id": trace_id, "spans": list(spans)}


def largest(traces: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The trace with the most spans, which shows any extra span; None if there is no trace."""
    return max(traces, key=lambda trace: len(trace["spans"]), default=None)
