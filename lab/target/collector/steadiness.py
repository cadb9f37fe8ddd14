"""Whether a constant load is kept up (claim C5), and whether its rates swing (claim C6). Pure."""

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from lab.analysis.collector.swing import Swing, find_swing, sine
from lab.contract import Metric, PairedMetric, Values
from lab.record import SECOND_NS, NotDerivableError, TrialData
from lab.record.traces import COMPLETE, RETURNED, SENT
from lab.target import delays

FAILED = ("traces_failed", "traces_sent")
# The window's first and last part, which are compared.
PART = 1 / 5
# Of the swing that all runs are said to have: it must be the same for all, to compare their phases.
PERIOD_S = 60.0
SEED = 1
CLOCKS = {"start": "load's start", "clock": "wall clock"}
# Kept in place of a phase, because values are averaged: the mean of 58 s and 2 s is not 30 s.
PARTS = ("cosine", "sine")


def failed(data: TrialData) -> int:
    """Return how many of the traces sent in the window failed."""
    return len(delays.in_window(data, SENT, delays.failures))


def failed_fraction(data: TrialData) -> float | None:
    """Return the share of the window's traces that failed; None if none was sent."""
    sent = len(delays.in_window(data, SENT))
    return failed(data) / sent if sent else None


def returned_each_second(data: TrialData) -> tuple[int, ...]:
    """Return how many traces came back in each whole second of the window."""
    found = delays.in_window(data, RETURNED).filter(COMPLETE)
    after_ns = found.select(RETURNED).to_series().to_numpy() - data.trial.window_start_ns
    seconds = int(data.trial.window_s)
    return tuple(np.bincount(after_ns // SECOND_NS, minlength=seconds)[:seconds].tolist())


def rate_kept(data: TrialData) -> float:
    """Return the rate of the window's last part by that of its first; raises `NotDerivableError` if that is 0."""
    counts = _constant(data)
    length = int(len(counts) * PART)
    first, last = sum(counts[:length]), sum(counts[len(counts) - length :])
    if not first:
        raise NotDerivableError("no trace came back at the window's begin")
    return last / first


def swing(data: TrialData) -> Swing:
    """Return the swing of the rate at which traces came back; raises `NotDerivableError` if the window is short."""
    return _swing(_constant(data))


@lru_cache(maxsize=1)
def _swing(counts: tuple[int, ...]) -> Swing:
    return find_swing(counts, SEED)


def swing_part(data: TrialData, clock: str, part: str) -> float:
    """Return the part of cosine or sine of a swing of `PERIOD_S`, by the load's start or by the wall clock."""
    window_start_ns, load_start_ns = data.trial.window_start_ns, data.trial.load_start_ns
    since_ns = window_start_ns - load_start_ns if clock == "start" else window_start_ns % round(PERIOD_S * 1e9)
    return sine(_constant(data), PERIOD_S, since_ns / SECOND_NS)[PARTS.index(part)]


def in_step(values: Values, reference: Values, clock: str) -> float | None:
    """Return the cosine of the phase difference of two swings: 1 in step, -1 opposite; None if one does not swing."""
    one, other = (np.array([of[_part_name(clock, part)] for part in PARTS]) for of in (values, reference))
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths else None


def _constant(data: TrialData) -> tuple[int, ...]:
    """Return what came back each second; raises `NotDerivableError` if the load grew in the window."""
    start_ns, end_ns = data.trial.window_start_ns, data.trial.window_end_ns
    for one in data.streams["generator"].values():
        if len(np.unique(one["workers"].within(start_ns, end_ns).values)) > 1:
            raise NotDerivableError("the number of workers changed in the window")
    return returned_each_second(data)


def _part_name(clock: str, part: str) -> str:
    return f"swing_by_{clock}_{part}"


def _of_swing(name: str) -> Callable[[TrialData], float]:
    def compute(data: TrialData) -> float:
        return float(getattr(swing(data), name))

    return compute


METRICS = (
    Metric(FAILED[0], "Traces of the window that failed, counted", "", compute=failed),
    Metric(
        FAILED[1],
        "Traces sent in the window, counted",
        "",
        "higher",
        compute=lambda data: len(delays.in_window(data, SENT)),
    ),
    Metric("traces_failed_fraction", "Traces that failed", "fraction", share_of=FAILED, compute=failed_fraction),
    Metric("returned_rate_kept", "Rate of the window's last fifth, by its first", "", "higher", compute=rate_kept),
    Metric("swing_p_value", "Swing of the rate: chance of one as high by noise", "", compute=_of_swing("p_value")),
    Metric("swing_period_s", "Swing of the rate: its period", "s", compute=_of_swing("period_s")),
    Metric(
        "swing_amplitude_fraction",
        "Swing of the rate: its amplitude, by the mean rate",
        "fraction",
        compute=_of_swing("amplitude"),
    ),
    *(
        Metric(
            _part_name(clock, part),
            f"Swing of {PERIOD_S:g} s by the {title}, {part} part",
            "fraction",
            compute=partial(swing_part, clock=clock, part=part),
        )
        for clock, title in CLOCKS.items()
        for part in PARTS
    ),
)

PAIRED = tuple(
    PairedMetric(
        f"swing_in_step_by_{clock}",
        f"Swing in step with the baseline's by the {title}: 1; independent: 0",
        "",
        "higher",
        compute=partial(in_step, clock=clock),
    )
    for clock, title in CLOCKS.items()
)
