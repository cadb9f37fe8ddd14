"""The figure of docs/explanation/method-in-plain-words.md is that of the report, of the primary metric only.

`python -m tests.unit.test_plain_words` draws it anew.
"""

import re
from pathlib import Path

from lab.record.summary import read_summary
from lab.report.drawings import forest
from lab.report.palette import PALETTE, PAPER, level_colours

DOCS = Path(__file__).parents[2] / "docs"
FIGURE = DOCS / "explanation" / "intervals.svg"


def drawn() -> str:
    """Return the figure with the colours of a light page: an image does not have the report's style sheet."""
    summary = read_summary(DOCS / "results" / "quick" / "summary.json")
    headline = summary.headline.model_copy(update={"main": [summary.headline.primary]})
    figure = forest(
        summary.model_copy(update={"headline": headline}),
        level_colours(list(summary.levels), summary.baseline, summary.placebo),
    )
    assert figure is not None
    text = str(figure).replace(">", f' style="background: {PAPER.light}">', 1)
    text = re.sub("font-family: .*?;", "font-family: sans-serif;", text)
    for colour in PALETTE:
        text = text.replace(f"var({colour.variable})", colour.light)
    return f"{text.rstrip()}\n"


def test_the_figure_is_that_of_the_report() -> None:
    assert FIGURE.read_text() == drawn()


def test_the_figure_needs_no_style_sheet() -> None:
    assert "var(" not in FIGURE.read_text()


if __name__ == "__main__":
    FIGURE.write_text(drawn())
