"""Claims about a number that their publication does not state: at the one that gives a published value, and at each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from lab.analysis.claims.match import PLACEHOLDER, Match
from lab.analysis.claims.questions import Question
from lab.analysis.claims.records import Judged
from lab.analysis.claims.swept import Swept
from lab.analysis.stats import FloatArray, Interval, mean_interval
from lab.record import Summary

Blocks = Mapping[int, float]
Values = Mapping[str, Mapping[str, Blocks]]
"""A metric's value by metric, level and block."""

Judge = Callable[[Summary, Values, Sequence[Question]], Judged]


def along(
    match: Match | None, summary: Summary, values: Values, wanted: Sequence[Question], judge: Judge, seed: int
) -> Judged:
    """Judge a claim. If its levels have `*`: at the number that the published value gives, and at each tested number.

    In each block, the number is interpolated between its neighbours on a logarithmic scale, and so are the values of
    all levels at it. The number's uncertainty is then a part of the spread between blocks. If a block does not reach
    the published value at any number, those that do are a selection, and there is no verdict.
    """
    if match is None or not any(starred(question.levels) for question in wanted):
        return judge(summary, values, wanted)
    each = {number: [_at(question, name) for question in wanted] for name, number in match.levels.items()}
    if any(level not in summary.levels for some in each.values() for one in some for level in one.levels):
        return judge(summary, values, next(iter(each.values())))
    matched = matched_logarithms(match, values)
    names = {level for question in wanted for level in starred(question.levels)}
    between = {
        metric: {**by_level, **{name: _between(match, by_level, name, matched) for name in names}}
        for metric, by_level in values.items()
    }
    levels = {**summary.levels, **dict.fromkeys(names, summary.levels[summary.baseline])}
    complete = (block for block, beyond in _beyond(match, values).items() if len(beyond) == len(match.levels))
    without = len(set(complete) - matched.keys())
    verdicts = tuple((number, judge(summary, values, some).verdict) for number, some in each.items())
    logarithm = mean_interval(list(matched.values()), summary.confidence, seed) if matched else None
    swept = _swept(match, logarithm).model_copy(update={"verdicts": verdicts, "blocks_without": without})
    found = judge(summary.model_copy(update={"levels": levels}), between, wanted)
    selected = {"verdict": "inconclusive"} if without and found.verdict != "not tested here" else {}
    return found.model_copy(update={"swept": swept, **selected})


def starred(levels: Sequence[str]) -> list[str]:
    """Return the names that have `*`."""
    return [level for level in levels if PLACEHOLDER in level]


def _swept(match: Match, logarithm: Interval | None) -> Swept:
    """Describe the matched number; `logarithm` is its logarithm's."""
    ends = (logarithm.mean, logarithm.low, logarithm.high) if logarithm else (None, None, None)
    number, low, high = (None if end is None else float(np.exp(end)) for end in ends)
    return Swept(
        what=match.what, metric=match.metric, published=match.published, number=number, low=low, high=high, verdicts=()
    )


def _at(question: Question, name: str) -> Question:
    return replace(question, levels=tuple(level.replace(PLACEHOLDER, name) for level in question.levels))


def _columns(match: Match, by_level: Mapping[str, Blocks], level: str) -> list[Blocks]:
    """Return the values of a level with `*` at each number, in rising order; any other level has one at all."""
    return [by_level.get(level.replace(PLACEHOLDER, name), {}) for name in match.levels]


def _beyond(match: Match, values: Values) -> dict[int, FloatArray]:
    """Return by how much each block exceeds the published value, at each number until one has no valid trial."""
    columns = [_columns(match, values.get(match.metric, {}), level) for level in match.at]
    found = {}
    for block in sorted(set.intersection(*(set(column[0]) for column in columns))):
        rows = [[one[block] for one in takewhile(_has(block), column)] for column in columns]
        found[block] = np.mean([row[: min(map(len, rows))] for row in rows], axis=0) - match.published
    return found


def _has(block: int) -> Callable[[Blocks], bool]:
    return lambda one: block in one


def matched_logarithms(match: Match, values: Values) -> dict[int, float]:
    """Return the logarithm of the number at which each block reaches the published value, of the blocks that do."""
    logs = np.log(list(match.levels.values()))
    found = {}
    for block, beyond in _beyond(match, values).items():
        crossings = np.flatnonzero(beyond[:-1] * beyond[1:] <= 0)
        if len(crossings):
            first = crossings[0]
            found[block] = float(np.interp(0, *_rising(beyond[first : first + 2], logs[first : first + 2])))
    return found


def _rising(values: FloatArray, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return two points in the order of their values."""
    order = np.argsort(values)
    return values[order], logs[order]


def _between(
    match: Match, by_level: Mapping[str, Blocks], level: str, matched: Mapping[int, float]
) -> dict[int, float]:
    """Return a level's value at the number that each block matched, where it has a value at both neighbours."""
    logs, columns = np.log(list(match.levels.values())), _columns(match, by_level, level)
    # What is missing is no number, and neither is what lies next to it.
    found = {
        block: float(np.interp(at, logs, [column.get(block, np.nan) for column in columns]))
        for block, at in matched.items()
    }
    return {block: value for block, value in found.items() if not np.isnan(value)}
