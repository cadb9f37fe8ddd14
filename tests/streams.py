"""A trial's records with some of them replaced, for tests of metrics and checks."""

from dataclasses import replace
from typing import Any

from lab.record.data import TrialData
from lab.record.trial import LOCAL


def with_streams(data: TrialData, **streams: Any) -> TrialData:
    """Return the trial with other streams of the local machine."""
    return replace(data, streams={**data.streams, **{name: {LOCAL: stream} for name, stream in streams.items()}})
