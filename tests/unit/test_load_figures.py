"""The figures of ramps and sustained loads are those of the report, of the courses kept beside the results.

`python -m tests.unit.test_load_figures` draws them anew.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.record import read_json, read_trial_record
from lab.report.courses import FORMAT, VERSION, kept_course
from lab.report.loads import loads
from lab.report.palette import level_colours
from tests.pictures import alone, of_kept, only

RESULTS = Path(__file__).parents[2] / "docs" / "results"
FILES = {"Traces per second": "rates.svg", "Delays": "delays.svg"}
"""By the titles that the report gives the figures."""
SHOWN = {
    "collector-capacity-half": ["Traces per second"],
    "collector-sustain-courses": ["Traces per second", "Delays"],
}
"""The figures on the pages, by kept run."""


def drawn(kept: Path) -> Mapping[str, str]:
    """Draw the figures of a kept run, by the names of their files."""
    observed = []
    for folder in sorted((kept / "over-time").iterdir()):
        trial = read_trial_record(folder)
        course = kept_course(trial.block, read_json(folder / "course.json", FORMAT, VERSION))
        observed.append(only(trial.level, course=course))
    source = of_kept(kept, observed)
    summary = source.summary
    colours = level_colours(list(summary.levels), summary.baseline, summary.placebo)
    return {FILES[title]: alone(svg) for title, svg, _ in loads(source, colours) if title in SHOWN[kept.name]}


@pytest.mark.parametrize("name", SHOWN)
def test_the_figures_are_those_of_the_report(name: str) -> None:
    figures = drawn(RESULTS / name)
    assert len(figures) == len(SHOWN[name])
    for file, text in figures.items():
        assert (RESULTS / name / file).read_text() == text


if __name__ == "__main__":
    for name in SHOWN:
        for file, text in drawn(RESULTS / name).items():
            (RESULTS / name / file).write_text(text)
