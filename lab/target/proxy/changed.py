"""What a change of Envoy's runtime did to the exports of a trial. Pure."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lab.contract import Metric
from lab.record import LOCAL, SECOND_NS, Fields, NotDerivableError, TrialData
from lab.target.proxy.changing import SOON_S

STREAM = "exports"
# Exports per span that differ by less may do so by chance.
CLEAR = 0.1


@dataclass(frozen=True)
class Effect:
    """Exports per second before and after a change, and after how long they were those of the new values.

    `took_s` is known to within one export. None: the values made no clear difference to the spans of an export.
    """

    before_per_s: float
    after_per_s: float
    took_s: float | None


def was_made(data: TrialData) -> Iterator[str]:
    """Reject trials whose runtime should have changed, and did not."""
    if not data.trial.settings.get("runtime_change"):
        return
    fields: Fields = data.streams.get(STREAM, {}).get(LOCAL, {})
    if "changes" not in fields or not fields["changes"].values.any():
        yield "Envoy's runtime was not changed: the load ended before"


def effect(data: TrialData) -> Effect | None:
    """Return what the change did; None in a trial without one.

    The spans that were still exported as before, of those since the change, follow from the number of exports and from
    the spans of an export before and long after the change. Raises `NotDerivableError` where too little was read.
    """
    if not data.has(STREAM):
        return None
    fields: Fields = data.streams[STREAM][LOCAL]
    t_ns, made = fields["changes"].t_ns, int(np.argmax(fields["changes"].values))
    if made == 0:
        raise NotDerivableError("no reading before and after the change")
    end_ns = min(int(t_ns[-1]), data.trial.window_end_ns)
    before = _Grown.of(fields, data.trial.window_start_ns, int(t_ns[made - 1]))
    after = _Grown.of(fields, int(t_ns[made]) + round(SOON_S * SECOND_NS), end_ns)
    since = _Grown.of(fields, int(t_ns[made]), end_ns)
    return Effect(before.exports_per_s, after.exports_per_s, _took_s(fields, made, before, after, since))


@dataclass(frozen=True)
class _Grown:
    """By how much the counters grew in some time."""

    exports: float
    spans: float
    lasted_s: float

    @classmethod
    def of(cls, fields: Fields, start_ns: int, end_ns: int) -> "_Grown":
        if end_ns <= start_ns:
            raise NotDerivableError("the window has no time before, or long after, the change")
        exports, spans = (fields[name].increase(start_ns, end_ns) for name in ("exports", "spans_sent"))
        if spans == 0:
            raise NotDerivableError("no span was sent before, or long after, the change")
        return cls(exports, spans, (end_ns - start_ns) / SECOND_NS)

    @property
    def exports_per_s(self) -> float:
        return self.exports / self.lasted_s

    @property
    def exports_per_span(self) -> float:
        return self.exports / self.spans


def _took_s(fields: Fields, made: int, before: _Grown, after: _Grown, since: _Grown) -> float | None:
    """Return how long after reading `made`, the first one after the change, spans were still exported as before."""
    old, new = before.exports_per_span, after.exports_per_span
    if abs(new - old) < CLEAR * old:
        return None
    spans = fields["spans_sent"]
    as_before = (since.exports - since.spans * new) / (old - new)
    sent, at_ns = spans.values[made:] - spans.values[made], spans.t_ns[made:] - spans.t_ns[made]
    return float(np.interp(max(as_before, 0.0), sent, at_ns)) / SECOND_NS


def _of(value: Callable[[Effect], float | None]) -> Callable[[TrialData], float | None]:
    def compute(data: TrialData) -> float | None:
        found = effect(data)
        return None if found is None else value(found)

    return compute


METRICS = (
    Metric(
        "exports_before_change_per_s",
        "Exports before the runtime changed",
        "1/s",
        compute=_of(lambda found: found.before_per_s),
    ),
    Metric(
        "exports_after_change_per_s",
        "Exports after the runtime changed",
        "1/s",
        compute=_of(lambda found: found.after_per_s),
    ),
    Metric(
        "runtime_change_took_s",
        "Time until the changed runtime took effect",
        "s",
        compute=_of(lambda found: found.took_s),
    ),
)
