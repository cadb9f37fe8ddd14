"""Figures of the report that a document shows by themselves: as they would be on a light page."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup

from lab.analysis.claims.records import read_verdicts
from lab.record import read_summary, stored
from lab.report.courses import Course
from lab.report.endpoint_courses import EndpointCourse
from lab.report.figures.over_time import Line
from lab.report.palette import PALETTE, PAPER
from lab.report.source import Observed, Source


def alone(figure: Markup) -> str:
    """Return the figure with its colours and font: an image does not have the report's style sheet."""
    text = str(figure).replace(">", f' style="background: {PAPER.light}">', 1)
    text = re.sub("font-family: .*?;", "font-family: sans-serif;", text)
    # A tenth of a pixel is enough, and halves the file.
    text = re.sub(r"\d+\.\d{3,}", lambda found: f"{float(found[0]):.1f}", text)
    text = re.sub(r" *\n *", "\n", text)
    text = re.sub(r"M [\d. ]+(?:\nL [\d. ]+)+", _in_steps, text)
    for colour in PALETTE:
        text = text.replace(f"var({colour.variable})", colour.light)
    return f"{text.rstrip()}\n"


def _in_steps(path: re.Match[str]) -> str:
    """Write a line's points as steps from one to the next, in tenths of a pixel: they have fewer digits."""
    places = np.array([float(number) for number in re.findall(r"[\d.]+", path[0])]).reshape(-1, 2)
    tenths = np.round(10 * places).astype(int)
    first, *steps = (
        " ".join(re.sub(r"\b0\.", ".", f"{number / 10:g}") for number in pair)
        for pair in [tenths[0], *np.diff(tenths, axis=0)]
    )
    return f"M{first}l{' '.join(steps)}".replace(" -", "-")


def only(level: str, *, course: Course | None = None, endpoints: EndpointCourse | None = None) -> Observed:
    """Return what is shown of a trial of which no other records are kept."""
    nothing = Line(np.empty(0), np.empty(0), None, 0.0, 0.0)
    return Observed(level, np.empty(0), np.empty(0), nothing, nothing, {}, course=course, endpoints=endpoints)


def of_kept(folder: Path, observed: Sequence[Observed]) -> Source:
    """Return a kept run with what is shown of its trials."""
    verdicts = folder / "claims.json"
    return Source(
        summary=read_summary(folder / "summary.json"),
        manifest={},
        trials=[],
        observed=observed,
        traces={},
        second_starts=set(),
        verdicts=read_verdicts(verdicts) if stored(verdicts) else None,
    )
