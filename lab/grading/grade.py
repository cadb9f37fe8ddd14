"""The grade of a run and its answers, row by row, with reasons."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lab.analysis.analyse import contrasts
from lab.analysis.checklist import MISSING, Row, judged
from lab.grading.consistent import contradictions
from lab.grading.exercise import Exercise, Precision
from lab.grading.keys import Key, key_of
from lab.grading.study import Study
from lab.record import Estimate, Summary, different
from lab.run.plan import blocks_for_precision
from lab.spec import Experiment, without_ends

Outcome = Literal["passed", "failed", "inconclusive"]
MAY_DIFFER = ("title", "question", "views", "claims", "headline", "profile", "name")
"""Parts of an experiment that change nothing in its trials."""
MOST_SHOWN = 5
MOST_BLOCKS = 1000
"""What an experiment file may request."""


@dataclass(frozen=True)
class Grade:
    """`score`: the share of the questions that were answered right; 0 if the records do not count.

    `repeat`: the command that would decide, if the run is not precise enough.
    """

    rows: Sequence[Row]
    outcome: Outcome
    score: float
    repeat: str | None = None

    @property
    def reasons(self) -> list[str]:
        """What failed, a sentence each."""
        return [f"{row.name}: {row.value} ({row.bound})" for row in self.rows if not row.passed]


def grade(study: Study, exercise: Exercise, wanted: Experiment, answers: Mapping[str, object]) -> Grade:
    """Grade a run of the experiment that is `wanted`.

    Answers are compared with the run's own intervals: whatever an honest run found is right. If records contradict each
    other, or are of another design, nothing else is looked at.
    """
    if wrong := records_rows(study, wanted):
        return Grade(wrong, "failed", 0.0)
    agree = judged("Records", f"{len(study.trials)} trials agree", "agree with each other and with the plan", True)
    precise = precision_rows(study.computed, exercise)
    keys = {name: key_of(name, question, study) for name, question in exercise.questions.items()}
    said = answer_rows(keys, answers)
    return concluded([agree], precise, said, repeat_command(study, exercise))


def records_rows(study: Study, wanted: Experiment) -> list[Row]:
    """Return a row for each way in which a run contradicts itself or is of another design; none for an honest one."""
    try:
        if found := other_design(study.experiment, wanted) or fewer_blocks(study, wanted):
            return [judged("Design", found, f"that of {wanted.name}", False)]
        wrong = contradictions(study)
    # What the lab wrote can be computed with. What somebody changed may fail anywhere.
    except (AttributeError, LookupError, TypeError, ValueError) as broken:
        wrong = [f"cannot be read: {type(broken).__name__}: {broken}"]
    return [judged("Records", one, "agree with each other", False) for one in wrong[:MOST_SHOWN]]


def concluded(records: Sequence[Row], precise: Sequence[Row], said: Sequence[Row], repeat: str) -> Grade:
    """Return the grade that follows from the rows of a run whose records agree."""
    score = sum(one.passed for one in said) / len(said)
    rows = [*records, *precise, *said]
    if not all(one.passed for one in said):
        return Grade(rows, "failed", score)
    if not all(one.passed for one in precise):
        return Grade(rows, "inconclusive", score, repeat)
    return Grade(rows, "passed", score)


def other_design(found: Experiment, wanted: Experiment) -> str | None:
    """Say in what a run is of another experiment; its seed, and what ends it, may differ."""
    if found.name != wanted.name:
        return f"a run of {found.name}"
    one, other = (_measured(experiment) for experiment in (found, wanted))
    path = next(different(one, other), None)
    return f"{path} differs" if path else None


def _measured(experiment: Experiment) -> dict[str, object]:
    return {name: part for name, part in without_ends(experiment.recorded(), "seed").items() if name not in MAY_DIFFER}


def fewer_blocks(study: Study, wanted: Experiment) -> str | None:
    """Say if a run has fewer blocks than its command requested: --resume adds some, and nothing removes any."""
    words = [word.rpartition("repetitions=") for word in shlex.split(study.manifest["command"])]
    requested = [int(number) for _, key, number in words if key] or [wanted.protocol.repetitions]
    repetitions = study.experiment.protocol.repetitions
    return f"{repetitions} blocks, its command requested {requested[-1]}" if repetitions < requested[-1] else None


def precision_rows(summary: Summary, exercise: Exercise) -> list[Row]:
    """Return whether each level has enough valid trials, and each ratio a narrow interval."""
    fewest = min(level.trials for level in summary.levels.values())
    rows = [judged("Valid trials of each level", str(fewest), f"at least {exercise.trials}", fewest >= exercise.trials)]
    if exercise.precision is not None:
        rows += [_half_width(summary, exercise.precision, level) for level in exercise.precision.levels]
    return rows


def half_width(found: Estimate | None) -> float | None:
    """Return how far a ratio's interval reaches, as a share; None without one."""
    if found is None or not found.ratio_low or found.ratio_high is None:
        return None
    return math.sqrt(found.ratio_high / found.ratio_low) - 1


def _compared(summary: Summary, precision: Precision, level: str) -> Estimate | None:
    pair = level, precision.to or summary.baseline
    if precision.metric not in summary.metrics:
        return None
    # The seed decides resampled intervals only; the width does not depend on it.
    return contrasts(summary, precision.metric, [pair], 0).get(pair)


def _half_width(summary: Summary, precision: Precision, level: str) -> Row:
    found = half_width(_compared(summary, precision, level))
    shown = MISSING if found is None else f"±{found:.1%}"
    passed = found is not None and found <= precision.half_width
    return judged(f"Half-width of {level}'s ratio", shown, f"at most ±{precision.half_width:.0%}", passed)


def answer_rows(keys: Mapping[str, Key | None], answers: Mapping[str, object]) -> list[Row]:
    """Return whether each question was answered right; one that the run does not answer is right without an answer."""
    rows = []
    for name, key in keys.items():
        answer = answers.get(name)
        shown = "no answer" if answer is None else str(answer)
        if key is None:
            rows.append(judged(name, shown, "not measured in your run: none", True))
        else:
            rows.append(judged(name, shown, f"your run says {key}", answer is not None and key.accepts(answer)))
    return rows


def repeat_command(study: Study, exercise: Exercise) -> str:
    """Return the command of a run that is probably precise enough."""
    protocol, precision = study.experiment.protocol, exercise.precision
    spreads = [
        one.log_ratio_sd
        for level in (precision.levels if precision else ())
        if precision and (one := _compared(study.computed, precision, level)) and one.log_ratio_sd
    ]
    precise = [blocks_for_precision(spread, precision.half_width) for spread in spreads if precision]
    blocks = min(MOST_BLOCKS, max(protocol.repetitions + 1, exercise.trials, *precise))
    budget = ""
    if protocol.budget_min is not None:
        # A budget that ended this run had time for fewer blocks than were planned.
        done = len(study.blocks) or protocol.repetitions
        budget = f" --set budget_min={math.ceil(protocol.budget_min * blocks / done)}"
    return f'make experiment EXPERIMENT={study.experiment.name} ARGS="--set repetitions={blocks}{budget}"'
