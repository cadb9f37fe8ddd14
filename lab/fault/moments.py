"""The containers' time, told by the lab's own clock: the lab may run on another machine than the engine."""

from lab.engine.clock import Clock
from lab.engine.driver import Driver

QUESTIONS = 3


class ContainerTime:
    """Unix time as the containers see it, in nanoseconds.

    Cristian's method (Probabilistic clock synchronization, Distributed Computing 3, 1989): ask a few times, believe the
    quickest answer, and take it to be from the middle of the time that it took.
    """

    def __init__(self, driver: Driver, clock: Clock) -> None:
        self._clock = clock
        answers = [self._ask(driver) for _ in range(QUESTIONS)]
        took_s, self._at_s, self._at_ns = min(answers)
        self.error_ns = round(took_s / 2 * 1e9)
        """How far off it may be."""

    def now_ns(self) -> int:
        """The time now."""
        return self._at_ns + round((self._clock.now_s() - self._at_s) * 1e9)

    def _ask(self, driver: Driver) -> tuple[float, float, int]:
        """How long an answer took, when its middle was on the lab's clock, and what it said."""
        asked_s = self._clock.now_s()
        told_ns = driver.time_ns()
        answered_s = self._clock.now_s()
        return answered_s - asked_s, (asked_s + answered_s) / 2, told_ns
