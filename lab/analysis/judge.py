"""The verdict on one trial, whatever it was made for: a study, a profile or a calibration."""

from collections.abc import Sequence
from pathlib import Path

from lab.analysis.checks import reasons
from lab.contract import Judgement
from lab.record import TrialData, TrialRecord, read_trial, read_trial_record, streams_in, write_json_atomic


def reject(folder: Path, reason: str) -> Sequence[str]:
    """Reject a trial that was valid by itself; return why."""
    record = read_trial_record(folder).model_copy(update={"valid": False, "reasons": [reason]})
    write_json_atomic(folder / "trial.json", record.json_record())
    return record.reasons


def judge(folder: Path, record: TrialRecord, judgement: Judgement) -> TrialData:
    """Write `trial.json` with the folder's streams and the verdict; return everything that the trial left.

    Raises `UserError` where a record is broken.
    """
    record = record.model_copy(update={"streams": streams_in(folder)})
    # Written without a verdict first: a broken record leaves a trial that is rejected, not one without a record.
    write_json_atomic(folder / "trial.json", record.json_record())
    data = read_trial(folder)
    found = reasons(data, judgement.checks)
    record = record.model_copy(update={"valid": not found, "reasons": found})
    write_json_atomic(folder / "trial.json", record.json_record())
    return TrialData(record, data.streams)
