"""What targets have in common while a trial is measured."""

from collections.abc import Sequence

from lab.record import TrialPart


class NothingAdded:
    """See `lab.contract.Measuring`: nothing is in force, and nothing is added to `trial.json`."""

    def parts(self) -> Sequence[TrialPart]:
        """See `Measuring.parts`."""
        return ()
