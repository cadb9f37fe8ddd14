"""The lab's own sink: receives spans, counts them and keeps a few traces (sink/README.md)."""

import json

from typing_extensions import override

from lab.backend.backend import Backend


class Sink(Backend):
    """The `Backend` for a backend that costs next to nothing."""

    services: tuple[str, ...] = ("sink",)
    images: tuple[str, ...] = ("sink",)
    keeps_traces = True
    health = ("SINK_PORT", "/healthz")

    @override
    def counters(self) -> dict[str, float]:
        answer = json.loads(self.http.get("SINK_PORT", "/counters"))
        # It counts duplicates only if it was started so.
        return {
            name: answer[name]
            for name in ("accepted_spans", "refused_spans", "requests", "bytes", "duplicate_spans")
            if name in answer
        }

    def newest_trace(self, entry: str) -> dict[str, object] | None:
        """See `Backend.newest_trace`: of those kept, the one with the most spans."""
        trace: dict[str, object] | None = json.loads(self.http.get("SINK_PORT", "/trace"))
        return trace
