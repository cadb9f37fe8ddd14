"""How late traces are just before the first of them fails (claim C4). Pure."""

from functools import partial

from lab.analysis.metrics.window import over
from lab.contract import Metric
from lab.record import TrialData
from lab.target import delays

PERCENTILE = "p95"


def delay_before_error_ms(data: TrialData, which: str) -> float:
    """Return a percentile of the delays of traces sent in the `BEFORE_S` before the first error, or the load's end.

    Raises `NotDerivableError` if none of them was answered, or came back.
    """
    start_ns = data.trial.load_start_ns
    at_ns = start_ns + round(delays.reached(data).at_s * delays.SECOND_NS)
    since_ns = max(start_ns, at_ns - round(delays.BEFORE_S * delays.SECOND_NS))
    return delays.delay_ms(over(data, since_ns, at_ns), which, delays.QUANTILES[PERCENTILE])


METRICS = tuple(
    Metric(
        f"first_error_{which}_delay_{PERCENTILE}_ms",
        f"{title} just before the first error, {PERCENTILE}",
        "ms",
        compute=partial(delay_before_error_ms, which=which),
        bound=delays.bound,
    )
    for which, title in delays.TITLES.items()
)
