"""The figure of docs/results/span-endpoints.md is that of the report, of the trials kept beside the result.

`python -m tests.unit.test_endpoint_figure` draws it anew.
"""

from collections.abc import Iterator
from pathlib import Path

from lab.record import LOCAL, TrialData
from lab.record.faults import read_injections
from lab.record.traces import read_collectors
from lab.record.trial import read_trial_record
from lab.report.endpoint_courses import endpoint_course
from lab.report.endpoint_figure import endpoints
from tests.pictures import alone, of_kept, only

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
    observed = [only(data.trial.level, endpoints=endpoint_course(data)) for data in trials()]
    part = endpoints(of_kept(KEPT, observed))
    assert part is not None
    assert part.figure is not None
    return alone(part.figure)


def test_the_figure_is_that_of_the_report() -> None:
    assert FIGURE.read_text() == drawn()


if __name__ == "__main__":
    FIGURE.write_text(drawn())
