"""Does it matter when a system gets its slices? Effects of place, of the system before, and of time. Pure.

A slice's cost is the services' CPU per request from the middle of the system's time without load before it to the
middle of that after it. There a counter hardly grows, so that nothing is lost between two of its samples. Each cost is
compared with the mean of the same system in the same set, so that no effect is that of a system. The set is the unit:
an effect is computed in each set first, and its interval is over sets.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log
from statistics import fmean

import numpy as np

from lab.analysis.metrics.window import increase, over
from lab.analysis.stats import Interval, mean_interval
from lab.record import Slice, SliceCost, TrialData, TrialRecord

CONFIDENCE = 0.95
BySet = Mapping[int, float]


@dataclass(frozen=True)
class Effect:
    """A ratio of costs, with its interval over sets. `what`: which slices, `to`: what they are compared with."""

    what: str
    to: str
    ratio: Interval


def slice_costs(trials: Iterable[TrialData]) -> list[SliceCost]:
    """Return the slices of alternating trials, in order of time within each set.

    Raises `NotDerivableError` where the counters do not cover a slice.
    """
    turns = sorted(
        (
            (data.trial.block, turn.start_ns, turn, data, edges_ns)
            for data in trials
            if data.trial.slices
            for turn, edges_ns in zip(data.trial.slices, pairwise(middles_ns(data.trial)), strict=True)
        ),
        key=lambda one: one[:2],
    )
    # Interleaved slices overlap, and follow no single one.
    apart = all(a[0] != b[0] or a[2].next_ns <= b[1] for a, b in pairwise(turns))
    # A trial that is left out leaves a gap, and the slice after it without a known predecessor.
    follows = [False, *(apart and a[0] == b[0] and a[2].next_ns == b[1] for a, b in pairwise(turns))]
    return [
        SliceCost(
            set=block,
            level=data.trial.level,
            traced=bool(data.trial.backend and data.trial.backend.accepted_spans),
            round=turn.round,
            position=turn.position,
            before=turns[index - 1][3].trial.level if follows[index] else None,
            cpu_ms=_cpu_ms(data, turn, edges_ns),
            start_ns=turn.start_ns,
        )
        for index, (block, _, turn, data, edges_ns) in enumerate(turns)
    ]


def middles_ns(trial: TrialRecord) -> list[int]:
    """Return when the work of each of a system's slices begins to be counted, and when that of the last one ends.

    These are the middles of its times without load; before the first slice and after the last, half of the usual one,
    but not after the window, where nothing is recorded.
    """
    slices = trial.slices
    between = list(pairwise(slices))
    usual_ns = round(fmean(later.start_ns - one.end_ns for one, later in between) / 2) if between else 0
    middles = [(one.end_ns + later.start_ns) // 2 for one, later in between]
    return [slices[0].start_ns - usual_ns, *middles, min(slices[-1].end_ns + usual_ns, trial.window_end_ns)]


def _cpu_ms(data: TrialData, turn: Slice, edges_ns: tuple[int, int]) -> float:
    intended_ns = data.requests.intended_ns
    requests = int(np.sum((intended_ns >= turn.start_ns) & (intended_ns < turn.next_ns)))
    used_ns = increase(over(data, *edges_ns), data.counters.containers, data.trial.names("service"), "cpu_usage_ns")
    return used_ns / 1e6 / requests


def place_effects(costs: Sequence[SliceCost], seed: int) -> list[Effect]:
    """Return the effect of each place in a round, and by how much it differs for traced systems from the others."""
    logs, found = _logs(costs), list[Effect]()
    for place in sorted({one.position for one in costs}):
        here = [pair for pair in logs if pair[0].position == place]
        elsewhere = [pair for pair in logs if pair[0].position != place]
        traced, others = ([pair for pair in here if pair[0].traced is kind] for kind in (True, False))
        found += _effects(f"place {place + 1}", "other places", _by_set(here), _by_set(elsewhere), seed)
        found += _effects(f"place {place + 1}, traced", "the same, not traced", _by_set(traced), _by_set(others), seed)
    return found


def predecessor_effects(costs: Sequence[SliceCost], seed: int) -> list[Effect]:
    """Return the effect of the level that had the slice before, on all other levels: what it leaves to the next one."""
    logs, found = [pair for pair in _logs(costs) if pair[0].before], list[Effect]()
    for level in sorted({one.before for one, _ in logs if one.before}):
        after = [pair for pair in logs if pair[0].before == level != pair[0].level]
        others = [pair for pair in logs if level not in (pair[0].before, pair[0].level)]
        found += _effects(f"after {level}", "after other systems", _by_set(after), _by_set(others), seed)
    return found


def half_effects(costs: Sequence[SliceCost], references: Collection[str], seed: int) -> list[Effect]:
    """Return the second half of each set's rounds compared with the first: CPU of each level, and its ratio.

    `references`: the levels to whose mean the ratios are.
    """
    rounds = 1 + max((one.round for one in costs), default=0)
    late, early = (_means([one for one in costs if (2 * one.round >= rounds) is half]) for half in (True, False))
    first, second = (
        {level: {number: log(value) for (number, name), value in half.items() if name == level} for _, level in half}
        for half in (early, late)
    )
    levels = sorted(first.keys() & second.keys())
    changed = {level: _difference(second[level], first[level]) for level in levels}
    reference = _mean_of([changed[level] for level in levels if level in references])
    all_first, all_second = (_mean_of([half[level] for level in levels]) for half in (first, second))
    return [
        *_effects("CPU of all levels", "first half", all_second, all_first, seed),
        *(
            one
            for level in levels
            for one in _effects(f"CPU of {level}", "first half", second[level], first[level], seed)
        ),
        *(
            one
            for level in levels
            if level not in references
            for one in _effects(f"ratio of {level}", "first half", changed[level], reference, seed)
        ),
    ]


def _difference(logs: BySet, minus: BySet) -> BySet:
    return {number: logs[number] - minus[number] for number in logs.keys() & minus.keys()}


def _means(costs: Iterable[SliceCost]) -> dict[tuple[int, str], float]:
    """Return the mean cost by set and level."""
    grouped: dict[tuple[int, str], list[float]] = {}
    for one in costs:
        grouped.setdefault((one.set, one.level), []).append(one.cpu_ms)
    return {key: fmean(values) for key, values in grouped.items()}


def _logs(costs: Sequence[SliceCost]) -> list[tuple[SliceCost, float]]:
    """Return each slice with the logarithm of its cost relative to the mean of its system in its set."""
    usual = _means(costs)
    return [(one, log(one.cpu_ms / usual[one.set, one.level])) for one in costs]


def _by_set(logs: Iterable[tuple[SliceCost, float]]) -> BySet:
    """Return the mean logarithm by set."""
    grouped: dict[int, list[float]] = {}
    for one, value in logs:
        grouped.setdefault(one.set, []).append(value)
    return {number: fmean(values) for number, values in grouped.items()}


def _mean_of(several: Sequence[BySet]) -> BySet:
    return {
        number: fmean(one[number] for one in several if number in one)
        for number in {number for one in several for number in one}
    }


def _effects(what: str, to: str, logs: BySet, minus: BySet, seed: int) -> Iterator[Effect]:
    """Yield the effect of logarithms less those of `minus`, over the sets that have both; nothing where none has."""
    if differences := _difference(logs, minus):
        mean = mean_interval([differences[number] for number in sorted(differences)], CONFIDENCE, seed)
        low, high = (None if end is None else exp(end) for end in (mean.low, mean.high))
        yield Effect(what, to, Interval(exp(mean.mean), low, high, mean.p_value))
