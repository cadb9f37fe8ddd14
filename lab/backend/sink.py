"""The lab's own sink: takes spans, counts them, keeps nothing, and can be made slow or unwilling (sink/README.md)."""

import json
from typing import Literal

from lab.backend.backend import Backend

Behaviour = Literal["accept", "slow", "refuse"]


class Sink(Backend):
    """The `Backend` for a backend that costs next to nothing."""

    services = ("sink",)
    images = ("sink",)

    def ready(self) -> bool:
        """See `Backend.ready`."""
        return self.http.answers("SINK_PORT", "/healthz")

    def accepted_spans(self) -> int | None:
        """See `Backend.accepted_spans`."""
        return round(self.counters()["accepted_spans"])

    def counters(self) -> dict[str, float]:
        """See `Backend.counters`."""
        answer = json.loads(self.http.get("SINK_PORT", "/counters"))
        return {name: answer[name] for name in ("accepted_spans", "refused_spans", "requests", "bytes")}

    def behave(self, behaviour: Behaviour, delay_ms: int = 0) -> None:
        """From now on takes spans at once, takes them `delay_ms` late, or refuses them."""
        self.http.put("SINK_PORT", "/behaviour", json.dumps({"behaviour": behaviour, "delay_ms": delay_ms}).encode())
