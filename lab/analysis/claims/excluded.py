"""What an interval excludes where it decides nothing."""

from lab.analysis.claims.questions import Question

CORRECTED = "against the claim, but not once corrected for the number of comparisons"


def excluded(question: Question, low: float | None, high: float | None, small: bool) -> str | None:
    """Say what an interval excludes, or why there is none. `small`: it decides nothing, but excludes large ones."""
    if low is None or high is None:
        return f"{question.levels[1]} may cost no more than {question.levels[2]}"
    if not small:
        return None
    largest = high - 1 if question.bounds.low else 1 - low
    return CORRECTED if largest < 0 else f"no larger than {100 * largest:.1f} %"
