"""What a trial's records say about the time of a fault. Pure; the kinds verify their faults with these functions."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lab.record import Course, Fields, NotDerivableError, TrialData

# In addition to the clock's error: a value read when a command ends may be slightly older.
MARGIN_NS = 50_000_000
# Beyond this many standard deviations a share is not the declared one: 1 in 15,000 by chance.
DEVIATIONS = 4.0
# What may happen between the readings of two counters.
EDGE_COUNT = 2


@dataclass(frozen=True)
class Span:
    """An interval of the containers' time."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True)
class Growth:
    """How much a counter grew from the first sample in a span to the last, and the seconds between them."""

    amount: float
    seconds: float

    @property
    def per_s(self) -> float:
        """Growth per second."""
        return self.amount / self.seconds


def during(course: Course) -> Span:
    """Return the time in which the fault was certainly in force."""
    return Span(course.injected.end_ns + _margin_ns(course), course.lifted.begin_ns - _margin_ns(course))


def before(data: TrialData, course: Course) -> Span:
    """Return an equally long time just before the fault, as far as there was load."""
    span = during(course)
    end_ns = course.injected.begin_ns - _margin_ns(course)
    return Span(max(data.trial.load_start_ns, end_ns - (span.end_ns - span.start_ns)), end_ns)


def _margin_ns(course: Course) -> int:
    return MARGIN_NS + course.clock_error_ns


def growth(fields: Fields, name: str, span: Span) -> Growth | None:
    """Return how a counter grew within a span, edges not interpolated; None with fewer than two samples in it."""
    try:
        series = fields[name].within(span.start_ns, span.end_ns)
    except (KeyError, NotDerivableError):
        return None
    if len(series.t_ns) < 2:
        return None
    return Growth(float(series.values[-1] - series.values[0]), float(series.t_ns[-1] - series.t_ns[0]) / 1e9)


def container_growth(data: TrialData, name: str, field: str, span: Span) -> Growth | None:
    """Return how a container's counter grew within a span; None with fewer than two samples."""
    return growth(data.counters.containers.get(name, {}), field, span)


def not_felt(data: TrialData, course: Course, target: str) -> Iterator[str]:
    """Yield that no request during a service's fault failed, or began in its first half and ended after it.

    The end is the end of the time in which the fault was certainly in force. Whether requests feel the fault of a
    backend is what is measured.
    """
    if target in data.trial.names("backend"):
        return
    requests, span = data.requests, during(course)
    under_way = (requests.start_ns < span.end_ns) & (requests.end_ns > span.start_ns)
    middle_ns = (span.start_ns + span.end_ns) // 2
    waited = (requests.start_ns <= middle_ns) & (requests.end_ns >= span.end_ns)
    if not np.any(under_way & ((requests.status != 200) | waited)):
        yield "no request failed or waited for it"


def median_latency_ms(data: TrialData, span: Span) -> float | None:
    """Return the median latency of the requests that began and succeeded within a span; None without any."""
    requests = data.requests
    chosen = (requests.start_ns >= span.start_ns) & (requests.end_ns <= span.end_ns) & (requests.status == 200)
    took_ns = (requests.end_ns - requests.start_ns)[chosen]
    return float(np.median(took_ns)) / 1e6 if len(took_ns) else None


def share_doubts(found: float, of: float, share: float, noun: str, done: str) -> Iterator[str]:
    """Yield why `found` of `of` (`noun`, such as requests) is not the declared share.

    Uses the binomial distribution's standard deviation. Too few to distinguish the share from none is also a reason.
    """
    slack = DEVIATIONS * math.sqrt(of * share * (1 - share)) + EDGE_COUNT
    if abs(found - of * share) > slack:
        yield f"{found:.0f} of {of:.0f} {noun} were {done}, expected a share of {share:g}"
    elif of * share <= slack:
        yield f"{of:.0f} {noun} are too few to distinguish a share of {share:g} from none"
