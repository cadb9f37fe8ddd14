"""Monotonic counters over time, and what can be derived from them for a window."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


class NotDerivableError(ValueError):
    """The samples do not say what a counter did in a window: they miss a part of it, or it was reset."""


@dataclass(frozen=True)
class Series:
    """One counter or gauge: `values` sampled at `t_ns`, in order of time."""

    t_ns: IntArray
    values: IntArray

    def increase(self, start_ns: int, end_ns: int, apart: bool = False) -> float:
        """Return the increase of a monotonic counter from `start_ns` to `end_ns`, interpolating at the edges.

        `apart`: it rests before and after. Interpolating would move a part of its increase there: the samples next to
        the edges have all of it.

        Raises `NotDerivableError` where the samples do not cover the window, or clock or counter went back (a
        container that began anew).
        """
        if len(self.t_ns) == 0 or self.t_ns[0] > start_ns or self.t_ns[-1] < end_ns:
            raise NotDerivableError("the samples do not cover the window")
        first = int(np.searchsorted(self.t_ns, start_ns, side="right")) - 1
        last = int(np.searchsorted(self.t_ns, end_ns, side="left"))
        t_ns, values = self.t_ns[first : last + 1], self.values[first : last + 1]
        if np.any(np.diff(t_ns) <= 0) or np.any(np.diff(values) < 0):
            raise NotDerivableError("the counter or its clock went back in the window")
        if apart:
            return float(values[-1] - values[0])
        # Differences to the first sample stay exact in float64, which Unix time in nanoseconds is too large for.
        edges = np.array([start_ns, end_ns]) - t_ns[0]
        at_start, at_end = np.interp(edges, t_ns - t_ns[0], values - values[0])
        return float(at_end - at_start)

    def continued(self) -> "Series":
        """Return a counter that began anew at 0 as if it had gone on: what it held before a fall is added after it.

        What was counted between the last sample before a fall and the fall itself is lost.
        """
        rises = np.diff(self.values, prepend=self.values[:1])
        return Series(self.t_ns, self.values[:1] + np.cumsum(np.where(rises < 0, self.values, rises)))

    def within(self, start_ns: int, end_ns: int) -> "Series":
        """Return the samples of the window, its edges included; raises `NotDerivableError` where there is none."""
        inside = (self.t_ns >= start_ns) & (self.t_ns <= end_ns)
        if not inside.any():
            raise NotDerivableError("no sample is in the window")
        return Series(self.t_ns[inside], self.values[inside])
