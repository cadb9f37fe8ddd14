"""What of a claim a run can test, and what it lacks."""

from collections.abc import Sequence

from lab.analysis.claims.questions import Question
from lab.record import Summary


def tested(summary: Summary, wanted: Sequence[Question]) -> list[Question]:
    """Return the questions that a run can answer: none if it lacks a level, otherwise those of the metrics it has."""
    if any(level not in summary.levels for question in wanted for level in question.levels):
        return []
    return [question for question in wanted if question.metric in summary.metrics]


def missing(summary: Summary, wanted: Sequence[Question]) -> str | None:
    """Name the levels and metrics that a run lacks; None if it can answer all questions."""
    levels = {level: None for question in wanted for level in question.levels if level not in summary.levels}
    metrics = {question.metric: None for question in wanted if question.metric not in summary.metrics}
    lacking = [f"{what} {', '.join(names)}" for what, names in (("level", levels), ("metric", metrics)) if names]
    return f"this run has no {', no '.join(lacking)}" if lacking else None
