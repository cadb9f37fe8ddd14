"""The figure of docs/results/span-endpoints.md is that of the report, of the trials kept beside the result.

`python -m tests.unit.test_endpoint_figure` draws it anew.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lab.record import LOCAL, TrialData
from lab.record.faults import read_injections
from lab.record.summary import read_summary
from lab.record.traces import read_collectors
from lab.record.trial import read_trial_record
from lab.report.endpoint_courses import endpoint_course
from lab.report.endpoint_figure import endpoints
from lab.report.figures.over_time import Line
from lab.report.source import Observed, Source
from tests.pictures import alone

KEPT = Path(__file__).parents[2] / "docs" / "results" / "span-endpoints"
FIGURE = KEPT / "over-time.svg"


def trials() -> Iterator[TrialData]:
    """Yield the trials of which only what endpoints and faults counted is kept."""
    for folder in sorted((KEPT / "over-time").iterdir()):
        streams = {
            "collectors": {LOCAL: read_collectors(folder / "collector.jsonl")},
            "faults": {LOCAL: read_injections(folder / "faults.jsonl")},
        }
        yield TrialData(read_trial_record(folder), streams)


def drawn() -> str:
    nothing = Line(np.empty(0), np.empty(0), None, 0.0, 0.0)
    observed = [
        Observed(data.trial.level, np.empty(0), np.empty(0), nothing, nothing, {}, endpoints=endpoint_course(data))
        for data in trials()
    ]
    part = endpoints(Source(read_summary(KEPT / "summary.json"), {}, [], observed, {}, set(), None))
    assert part is not None
    assert part.figure is not None
    return alone(part.figure)


def test_the_figure_is_that_of_the_report() -> None:
    assert FIGURE.read_text() == drawn()


if __name__ == "__main__":
    FIGURE.write_text(drawn())
