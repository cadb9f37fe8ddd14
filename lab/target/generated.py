"""Checks of what a generator of spans or traces did, whatever takes them. Pure."""

import math
from collections.abc import Iterator

from lab.analysis.metrics.window import cpu_cores, over
from lab.record import SECOND_NS, TrialData
from lab.target import delays, ended

# Of what was planned. The generator needs a moment until its first span.
SHORT_FRACTION = 0.03
# Of a Poisson count, in standard deviations: one load in 30,000 is further off.
SPARE_SDS = 4
# Of the CPUs of the generator and backends. What they cannot do is no limit of the target.
INSTRUMENTS_FRACTION = 0.7
OUTCOMES = ("traces_returned", "traces_accepted", "send_timeouts", "send_errors", "receive_timeouts", "shutdowns")


def load_held(data: TrialData) -> Iterator[str]:
    """Reject open loops whose generator did not generate what was planned."""
    values = data.results.values
    if planned := values.get("spans_planned"):
        yield from _short("spans", values["spans_generated"], planned, SHORT_FRACTION)
    if planned := values.get("traces_planned"):
        drawn = float(len(delays.traces(data)))
        yield from _short("traces", drawn, planned, SHORT_FRACTION + SPARE_SDS / math.sqrt(planned))


def _short(what: str, generated: float, planned: float, limit: float) -> Iterator[str]:
    if abs(generated / planned - 1) > limit:
        yield f"the generator generated {generated:.0f} {what}, planned were {planned:.0f} (limit ±{limit:.0%})"


def traces_accounted_for(data: TrialData) -> Iterator[str]:
    """Reject trials whose generator does not know what became of each trace that it sent."""
    values = data.results.values
    known = sum(values[name] for name in OUTCOMES)
    if known != values["traces_sent"]:
        yield f"the generator sent {values['traces_sent']:.0f} traces, and knows what became of {known:.0f}"


def instruments_had_cpu(data: TrialData) -> Iterator[str]:
    """Reject trials in which generator and backends needed most of their CPUs. A ramp is seen until its first error."""
    if not data.has("trace-log"):
        return
    start_ns, end_ns = data.trial.window_start_ns, data.trial.window_end_ns
    if ended.is_ramp(data):
        failed_ns = data.trial.load_start_ns + round(delays.reached(data).at_s * SECOND_NS)
        # The generator is seen until the window ends; a failure may be logged later.
        end_ns = max(start_ns + 1, min(failed_ns, end_ns))
    yield from too_busy(data, instruments_fraction(data, start_ns, end_ns))


def instruments_fraction(data: TrialData, start_ns: int, end_ns: int) -> float:
    """Return which share of their CPUs generator and backends used."""
    used = cpu_cores(over(data, start_ns, end_ns), data.trial.names("generator", "backend"))
    return used / len(data.trial.generator_cpus)


def too_busy(data: TrialData, fraction: float, when: str = "") -> Iterator[str]:
    """Yield a reason if generator and backends used more of their CPUs than they may."""
    if fraction > INSTRUMENTS_FRACTION:
        names = " and ".join(data.trial.names("generator", "backend"))
        yield (
            f"{names} used {fraction:.0%} of their CPUs{when} (limit {INSTRUMENTS_FRACTION:.0%}): "
            "what is measured may not have been the limit"
        )
