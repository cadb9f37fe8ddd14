"""The figure of docs/explanation/method-in-plain-words.md is that of the report, of the primary metric only.

`python -m tests.unit.test_plain_words` draws it anew.
"""

from pathlib import Path

from lab.record.summary import read_summary
from lab.report.drawings import forest
from lab.report.palette import level_colours
from tests.pictures import alone

DOCS = Path(__file__).parents[2] / "docs"
FIGURE = DOCS / "explanation" / "intervals.svg"


def drawn() -> str:
    summary = read_summary(DOCS / "results" / "quick" / "summary.json")
    headline = summary.headline.model_copy(update={"main": [summary.headline.primary]})
    figure = forest(
        summary.model_copy(update={"headline": headline}),
        level_colours(list(summary.levels), summary.baseline, summary.placebo),
    )
    assert figure is not None
    return alone(figure)


def test_the_figure_is_that_of_the_report() -> None:
    assert FIGURE.read_text() == drawn()


def test_the_figure_needs_no_style_sheet() -> None:
    assert "var(" not in FIGURE.read_text()


if __name__ == "__main__":
    FIGURE.write_text(drawn())
