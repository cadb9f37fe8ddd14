"""The containers' time by the lab's clock: the engine may run on another machine than the lab."""

from lab.engine import Clock, Driver

READINGS = 3


class ContainerTime:
    """Unix time as the containers see it, in nanoseconds.

    Cristian's method (Probabilistic clock synchronization, Distributed Computing 3, 1989): read the engine's clock a
    few times, use the quickest reading, and assume that it is from the middle of the time that it took.
    """

    def __init__(self, driver: Driver, clock: Clock) -> None:
        self._clock = clock
        readings = [self._read(driver) for _ in range(READINGS)]
        took_s, self._at_s, self._at_ns = min(readings)
        self.error_ns = round(took_s / 2 * 1e9)
        """The largest possible error."""

    def now_ns(self) -> int:
        """The current time."""
        return self._at_ns + round((self._clock.now_s() - self._at_s) * 1e9)

    def _read(self, driver: Driver) -> tuple[float, float, int]:
        """How long a reading took, its middle by the lab's clock, and the time that was read."""
        begin_s = self._clock.now_s()
        read_ns = driver.time_ns()
        end_s = self._clock.now_s()
        return end_s - begin_s, (begin_s + end_s) / 2, read_ns
