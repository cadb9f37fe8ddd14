"""What the variant `burn` used on purpose, by the clocks of its own threads: the truth of `lab check alternating`."""

from lab.contract import Metric
from lab.record import TrialData


def _per_request_ms(data: TrialData) -> float:
    """Divide what was burned for requests by all that were sent since the start, the warm-up's included."""
    values = data.results.values
    return (values["burned_in_request_ms"] + values["burned_later_ms"]) / len(data.requests)


def _idle_cores(data: TrialData) -> float:
    return data.results.values["burned_idle_ms"] / 1000 / data.results.values["burner_ran_s"]


METRICS = (
    Metric("burned_per_request_ms", "CPU burned on purpose per request", "ms", compute=_per_request_ms),
    Metric("burned_idle_cores", "CPU burned on purpose all the time", "cores", compute=_idle_cores),
)
