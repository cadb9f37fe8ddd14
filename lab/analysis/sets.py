"""Which trials were rejected: by level, and of systems that alternate by set, which is their unit of statistics."""

from collections import Counter

from lab.analysis.metrics.alternating import IDLE
from lab.errors import UserError
from lab.record import Summary, TrialSummary

MOST_REJECTED_PERCENT = 10.0
WITH_ITS_SET = "its set was rejected because of"


class TooManyRejected(UserError):
    """So many sets were rejected that those left may be a selection."""

    exit_code = 6


def alternating(summary: Summary) -> bool:
    """Return whether the run's systems took turns."""
    # Summaries of kept runs do not say it; and a run whose sets were all rejected has no metrics.
    return summary.alternating or IDLE in summary.metrics


def check_rejected(summary: Summary) -> None:
    """Raise `TooManyRejected` if more than a tenth of the sets was rejected; other runs have no sets."""
    rejected, sets = _rejected_sets(summary)
    if alternating(summary) and rejected_percent(summary) > MOST_REJECTED_PERCENT:
        raise TooManyRejected(
            f"{len(rejected)} of {len(sets)} sets were rejected (limit {MOST_REJECTED_PERCENT:.0f} %)",
            "the lines that begin with `rejected` say why; run it again on a quieter machine",
        )


def rejected_percent(summary: Summary) -> float:
    """Return the share of sets that were rejected: a set is rejected with all its trials."""
    rejected, sets = _rejected_sets(summary)
    return 100 * len(rejected) / max(1, len(sets))


def rejections(summary: Summary) -> str:
    """Say how many trials of each level were rejected, those apart that were rejected only with their set."""
    wrong = Counter(trial.level for trial in summary.trials if not trial.valid and not with_its_set(trial))
    attempts = Counter(trial.level for trial in summary.trials)
    by_level = ", ".join(f"{level} {wrong[level]} of {attempts[level]}" for level in summary.levels if wrong[level])
    if not alternating(summary):
        return f"Rejected trials: {by_level or 'none'}."
    rejected, sets = _rejected_sets(summary)
    return f"Rejected sets: {len(rejected)} of {len(sets)}{f'; by level: {by_level}' if by_level else ''}."


def _rejected_sets(summary: Summary) -> tuple[set[int], set[int]]:
    """Return the blocks in which a trial was rejected, and all blocks that were run."""
    return {trial.block for trial in summary.trials if not trial.valid}, {trial.block for trial in summary.trials}


def with_its_set(trial: TrialSummary) -> bool:
    """Return whether a trial was rejected only because another one of its set was."""
    return any(reason.startswith(WITH_ITS_SET) for reason in trial.reasons)
