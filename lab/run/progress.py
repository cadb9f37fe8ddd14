"""What a person sees during a long run: a line for each step, and on a terminal a bar with the time left."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from lab.run.plan import Trial

Report = Callable[[Trial, Sequence[str], float, bool], None]
"""Called after each attempt: the trial, why it was rejected (if it was), its seconds, whether the trial is settled."""


class Progress:
    """Prints to one console. Without a terminal there is no bar and no colour, only lines."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def say(self, text: str) -> None:
        """Prints a line."""
        self.console.print(escape(text), highlight=False, soft_wrap=True)

    @contextmanager
    def step(self, text: str) -> Iterator[None]:
        """Prints what begins, and at its end how long it took."""
        started_s = time.monotonic()
        self.say(f"{text} ...")
        yield
        self.say(f"{text}: {time.monotonic() - started_s:.0f} s")

    @contextmanager
    def trials(self, total: int, done: int, bound_s: Callable[[], float] = lambda: math.inf) -> Iterator[Report]:
        """Yields a function to call after each attempt; `done` trials of `total` were run before.

        `bound_s` returns how many seconds are left at most, however many trials are left.
        """
        if done:
            self.say(f"{done} of {total} trials were run before")
        # Once a second: drawing the bar takes CPU from what is measured.
        bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=self.console,
            refresh_per_second=1,
            disable=not self.console.is_terminal,
            transient=True,
        )
        tally = _Tally(total, done, bound_s)
        with bar:
            task = bar.add_task(f"trial {done + 1} of {total}", total=total, completed=done)

            def report(trial: Trial, reasons: Sequence[str], took_s: float, settled: bool) -> None:
                for line in tally.add(trial, reasons, took_s, settled):
                    self.say(line)
                bar.update(task, completed=tally.done, description=tally.next())

            yield report


class _Tally:
    """Counts trials and estimates how long the rest will take."""

    def __init__(self, total: int, done: int, bound_s: Callable[[], float]) -> None:
        self.total, self.done, self.bound_s = total, done, bound_s
        self.attempts_s: list[float] = []

    def left(self) -> str:
        if self.done >= self.total:
            return ""
        left_s = (self.total - self.done) * sum(self.attempts_s) / len(self.attempts_s)
        bound_s = self.bound_s()
        return f", about {minutes(left_s)} left" if left_s <= bound_s else f", at most {minutes(bound_s)} left"

    def next(self) -> str:
        return f"trial {min(self.done + 1, self.total)} of {self.total}{self.left()}"

    def add(self, trial: Trial, reasons: Sequence[str], took_s: float, settled: bool) -> list[str]:
        """Counts an attempt; returns what to print of it."""
        self.attempts_s.append(took_s)
        self.done += settled
        verdict = "rejected" if reasons else "valid"
        place = f"[{trial.number:>3}/{self.total}] block {trial.block + 1}"
        head = f"{place}  {trial.level:<20} {verdict:<8} {took_s:3.0f} s{self.left()}"
        return [head, *(f"          because {reason}" for reason in reasons)]


def minutes(seconds: float) -> str:
    """`45 s`, `7 min` or `1 h 20 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    rounded = round(seconds / 60)
    return f"{rounded} min" if rounded < 60 else f"{rounded // 60} h {rounded % 60:02d} min"
