"""Waits for the observer, which samples beside what is measured."""

from pathlib import Path

from lab.engine.clock import Clock, wait_until
from lab.record import observed_until_ns

# A counter's increase over a window needs a sample after its end. Where none comes, a check rejects the trial.
BOUND_S = 10.0
LOOK_EVERY_S = 0.2


def await_observed(out: Path, end_ns: int, clock: Clock, sampled_every_s: float = 0.0) -> None:
    """Waits until the observer, whose record is in `out`, has sampled after `end_ns`; not for longer than a bound."""
    wait_until(lambda: observed_until_ns(out) > end_ns, BOUND_S + sampled_every_s, LOOK_EVERY_S, clock)
