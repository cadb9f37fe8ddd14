"""How late traces are just before the first of them fails (claim C4), and how busy the generator is. Pure."""

from functools import partial

from lab.analysis.metrics.window import over
from lab.contract import Metric
from lab.record import SECOND_NS, TrialData
from lab.target import delays, generated

PERCENTILE = "p95"


def delay_before_error_ms(data: TrialData, which: str) -> float:
    """Return a percentile of the delays of traces sent in the `BEFORE_S` before the first error, or the load's end.

    Raises `NotDerivableError` if none of them was answered, or came back.
    """
    return delays.delay_ms(over(data, *_before_error_ns(data)), which, delays.QUANTILES[PERCENTILE])


def instruments_before_error_fraction(data: TrialData) -> float:
    """Return which share of their CPUs generator and backends used in the same time, as far as they were observed."""
    since_ns, at_ns = _before_error_ns(data)
    return generated.instruments_fraction(data, since_ns, max(since_ns + 1, min(at_ns, data.trial.window_end_ns)))


def _before_error_ns(data: TrialData) -> tuple[int, int]:
    start_ns = data.trial.load_start_ns
    at_ns = start_ns + round(delays.reached(data).at_s * SECOND_NS)
    return max(start_ns, at_ns - round(delays.BEFORE_S * SECOND_NS)), at_ns


METRICS = (
    Metric(
        "first_error_instruments_fraction",
        "CPU share of generator and sink just before the first error",
        "fraction",
        compute=instruments_before_error_fraction,
        bound=delays.bound,
    ),
    *(
        Metric(
            f"first_error_{which}_delay_{PERCENTILE}_ms",
            f"{title} just before the first error, {PERCENTILE}",
            "ms",
            compute=partial(delay_before_error_ms, which=which),
            bound=delays.bound,
        )
        for which, title in delays.TITLES.items()
    ),
)
