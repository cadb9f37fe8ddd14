"""Claims about a number that their publication does not state: at the one that gives a published value, and at each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lab.analysis.claims.match import PLACEHOLDER, Match
from lab.analysis.claims.questions import Question
from lab.analysis.claims.records import Judged
from lab.analysis.claims.swept import Swept
from lab.analysis.stats.intervals import FloatArray, Interval, mean_interval
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
    all levels at it. The number's uncertainty is then a part of the spread between blocks.
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
    without = len(_blocks(match, values)) - len(matched)
    verdicts = tuple((number, judge(summary, values, some).verdict) for number, some in each.items())
    swept = _swept(match, mean_interval(list(matched.values()), summary.confidence, seed) if matched else None)
    return judge(summary.model_copy(update={"levels": levels}), between, wanted).model_copy(
        update={"swept": swept.model_copy(update={"verdicts": verdicts, "blocks_without": without})}
    )


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


def _rows(match: Match, by_level: Mapping[str, Blocks], level: str) -> dict[int, list[float]]:
    """Return the values of a level with `*` at each number, of the blocks that have all; any other level has one."""
    columns = [by_level.get(level.replace(PLACEHOLDER, name), {}) for name in match.levels]
    blocks = set.intersection(*(set(column) for column in columns))
    return {block: [column[block] for column in columns] for block in sorted(blocks)}


def _blocks(match: Match, values: Values) -> list[int]:
    """Return the blocks that have all levels that say which number it was."""
    return sorted(set.intersection(*(set(_rows(match, values.get(match.metric, {}), level)) for level in match.at)))


def matched_logarithms(match: Match, values: Values) -> dict[int, float]:
    """Return the logarithm of the number at which each block reaches the published value, of the blocks that do."""
    logs = np.log(list(match.levels.values()))
    rows = [_rows(match, values.get(match.metric, {}), level) for level in match.at]
    found = {}
    for block in _blocks(match, values):
        beyond = np.mean([row[block] for row in rows], axis=0) - match.published
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
    """Return a level's value at the number that each block matched."""
    logs, rows = np.log(list(match.levels.values())), _rows(match, by_level, level)
    return {block: float(np.interp(at, logs, rows[block])) for block, at in matched.items() if block in rows}
