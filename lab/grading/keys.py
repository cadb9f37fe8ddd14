"""The right answer to each question of an exercise, computed from the student's own run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from lab.analysis.analyse import contrasts
from lab.grading.exercise import BeyondNoiseQuestion, DrawnQuestion, FindingQuestion, Question, ValueQuestion
from lab.grading.study import Study
from lab.grading.trial import StudentTrial
from lab.record import Estimate, Summary, TrialData

ROUNDED = 0.005
"""An answer has three digits: it may be wrong by this share."""
SMALLEST = 5e-4
"""The last digit of an answer, for numbers near 0."""
READ_OFF = 0.006
"""How far a ratio and a noise floor, both read off a table, may be from their difference."""
SAME_WORDS = dict.fromkeys(
    ("differs by less than 5 %", "differs by less than 5 % of the overhead"), "same within margin"
)
"""What table and answer print of a difference within the margin that is not 0."""


@dataclass(frozen=True)
class Key:
    """What is right: any number from `low` to `high`, or one of `words`. `where`: the trial that was drawn."""

    low: float | None = None
    high: float | None = None
    words: tuple[str, ...] = ()
    where: str = ""

    def accepts(self, answer: object) -> bool:
        """Return whether an answer is right."""
        if self.low is None or self.high is None:
            said = " ".join(str(answer).casefold().split())
            return SAME_WORDS.get(said, said) in self.words
        if not isinstance(answer, int | float) or isinstance(answer, bool):
            return False
        slack = max(ROUNDED * abs(answer), SMALLEST)
        return self.low - slack <= answer <= self.high + slack

    def __str__(self) -> str:
        if self.low is None or self.high is None:
            return " or ".join(self.words)
        return f"{self.low:.4g} to {self.high:.4g}" if self.high > self.low else f"{self.low:.4g}"


def key_of(name: str, question: Question, study: Study) -> Key | None:
    """Return the key to a question; None where the run does not say, so that it cannot be answered."""
    match question:
        case ValueQuestion():
            return _value(_estimate(study.computed, question, study.experiment.protocol.seed), question.of)
        case FindingQuestion():
            found = _estimate(study.computed, question, study.experiment.protocol.seed)
            return Key(words=(found.finding,)) if found and found.finding else None
        case BeyondNoiseQuestion():
            return _beyond_noise(study.computed.estimate_of(question.metric, question.level))
        case DrawnQuestion():
            return _drawn(name, DRAWN[question.what], study)


def _estimate(summary: Summary, question: ValueQuestion | FindingQuestion, seed: int) -> Estimate | None:
    """Return a level's estimate, compared with the level that the question names."""
    if question.to is None:
        return summary.estimate_of(question.metric, question.level)
    if question.metric not in summary.metrics:
        return None
    pair, declared = (question.level, question.to), summary.headline.compare
    # As the answer that the student reads: declared comparisons are corrected for their number.
    return contrasts(summary, question.metric, declared if pair in declared else [pair], seed).get(pair)


def _value(found: Estimate | None, of: str) -> Key | None:
    """Return the student's own interval; without one, the estimate itself."""
    if found is None or getattr(found, of) is None:
        return None
    value = getattr(found, of)
    low, high = getattr(found, f"{of}_low"), getattr(found, f"{of}_high")
    return Key(low=value if low is None else low, high=value if high is None else high)


def _beyond_noise(found: Estimate | None) -> Key | None:
    if found is None or found.ratio is None or found.noise_floor is None:
        return None
    beyond = abs(found.ratio - 1) - found.noise_floor
    # Nobody can read off a table which of two equal numbers is larger.
    if abs(beyond) < READ_OFF:
        return Key(words=("yes", "no"))
    return Key(words=("yes" if beyond > 0 else "no",))


def _drawn(name: str, read: Callable[[TrialData], float | str | None], study: Study) -> Key | None:
    """Return the key to a question about the trial that seed and records draw."""
    known = [one for one in study.trials if one.data.trial.valid and read(one.data) is not None]
    if not known:
        return None
    trial = drawn_trial(name, known, study)
    found = read(trial.data)
    if isinstance(found, str):
        return Key(words=(found.casefold(),), where=trial.name)
    return Key(low=found, high=found, where=trial.name)


def drawn_trial(name: str, known: list[StudentTrial], study: Study) -> StudentTrial:
    """Draw the trial that a question is about."""
    drawn = sha256(f"{study.experiment.protocol.seed} {study.pseudonym} {name}".encode()).digest()
    return known[int.from_bytes(drawn[:8]) % len(known)]


def _spans(data: TrialData) -> list[Mapping[str, Any]]:
    return list(data.trace["spans"]) if data.trace else []


def _root_ms(data: TrialData) -> float | None:
    return next((span["duration_ns"] / 1e6 for span in _spans(data) if span["parent"] is None), None)


def _longest_call_ms(data: TrialData) -> float | None:
    return max((span["duration_ns"] / 1e6 for span in _spans(data) if span["kind"] == "client"), default=None)


def _fault_start_s(data: TrialData) -> float | None:
    return next((float(one.fault["start_s"]) for one in data.injections), None)


def _failed_by(data: TrialData) -> str | None:
    """Return what failed first at the lowest rate that failed."""
    searches = data.streams.get("search", {}).values()
    failed = [one for search in searches for one in search.trials if one.failed_by is not None]
    return min(failed, key=lambda one: one.traces_per_s).failed_by if failed else None


DRAWN: Mapping[str, Callable[[TrialData], float | str | None]] = {
    "root-ms": _root_ms,
    "longest-call-ms": _longest_call_ms,
    "spans": lambda data: float(len(_spans(data))) or None,
    "fault-start-s": _fault_start_s,
    "failed-by": _failed_by,
}
"""What a question can be about in one trial's raw records; None where a trial has nothing of the kind."""
