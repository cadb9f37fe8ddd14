"""Which rate a generator holds while the system runs, from a run whose levels are rates. Pure.

The rows of a `lab check`.
"""

from collections.abc import Mapping

from lab.analysis.checklist import MISSING, Row, at_least, judged
from lab.errors import UserError
from lab.record import Summary, TrialSummary

DELAY, RATE = "start_delay_p99_ms", "requests_per_s"
GENERATOR = "cpu_generator_cores"
CORES = (GENERATOR, "cpu_proxy_cores", "cpu_server_cores", "cpu_receiver_cores", "cpu_observer_cores")
# How the reasons of trials begin whose generator was too late, or had too little CPU.
TOO_SLOW = "the generator "

# Required of a rate that is held.
HELD_MS = 1.0
LEAST_PER_S = 1200.0


def held(summary: Summary) -> list[Row]:
    """Say of each rate whether it was held, and last which one is the highest, held together with all lower rates.

    Raises `UserError` if the run's levels have no rates.
    """
    rates = {
        float(level.settings[RATE]): name
        for name, level in summary.levels.items()
        if level.settings.get(RATE) and name != summary.placebo
    }
    if not rates:
        raise UserError("this run's levels have no rates", "name a run of `lab experiment proxy-generator`")
    means = {(row.metric, row.level): row.mean for row in summary.estimates}
    rows, highest = list[Row](), 0.0
    for rate, level in sorted(rates.items()):
        rows.append(_rate(rate, level, means, [trial for trial in summary.trials if trial.level == level]))
        if all(row.passed for row in rows):
            highest = rate
    return [*rows, at_least("highest rate held, with all lower ones, requests/s", highest, LEAST_PER_S)]


def _rate(rate: float, level: str, means: Mapping[tuple[str, str], float], trials: list[TrialSummary]) -> Row:
    name, bound = f"{rate:g} requests/s: start delay, p99", f"under {HELD_MS:g} ms"
    slow = sum(reason.startswith(TOO_SLOW) for trial in trials for reason in trial.reasons)
    late_ms = means.get((DELAY, level))
    rejected = f"; {slow} trials rejected: the generator was too slow" if slow else ""
    if late_ms is None:
        return Row(name, f"{MISSING}{rejected}", bound, "FAIL")
    worst_ms = max(trial.values[DELAY] for trial in trials if trial.counts)
    cores = [means.get((metric, level), 0.0) for metric in CORES]
    value = f"{late_ms:.2g} ms (worst trial {worst_ms:.2g}); cores: generator {cores[0]:.2g}, all {sum(cores):.2g}"
    return judged(name, f"{value}{rejected}", bound, late_ms < HELD_MS and not slow)
