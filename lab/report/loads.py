"""Chooses what is drawn of loads of traces: workers, rates and delays over time, with the first errors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from markupsafe import Markup

from lab.analysis.stats import FloatArray
from lab.record import Summary
from lab.report.courses import DELAYS, RATES, WORKERS, Course
from lab.report.figures.courses import Bundle, Dashes, Marks, courses
from lab.report.palette import INK, REJECTED, Colour
from lab.report.source import Source

FIRST_ERROR_S = "first_error_at_s"


@dataclass(frozen=True)
class Figure:
    """One of the figures: its heading, what is said below it, its axis, and a trial's values by what each is called.

    `looks`: of these. Those that are not named are solid, and what has no colour has the level's own. `published`: the
    metrics whose published values are lines.
    """

    name: str
    title: str
    caption: str
    axis: tuple[str, Literal["linear", "log"]]
    values: Callable[[Course], Mapping[str, FloatArray]]
    looks: Mapping[str, tuple[Colour | None, Dashes]]
    published: Sequence[str]


FIGURES = (
    Figure(
        "load-workers",
        "Workers",
        "Each sends a trace, waits until it has come back, and sends the next. Thin: each valid trial; thick: their "
        "median. Red: a trial's first error, which is the first trace that was rejected, or expected back and not "
        "returned in time.",
        ("workers", "linear"),
        lambda one: {WORKERS: one.workers},
        {},
        ("first_error_workers",),
    ),
    Figure(
        "load-rates",
        "Traces per second",
        "As the generator logged them: sent (dotted), returned, not returned in time (dashed), rejected. A trace that "
        "a sampler or another rule drops is not returned, but no error.",
        ("traces per second", "linear"),
        lambda one: {name.replace("refused", "rejected"): one.per_s[name] for name in RATES},
        {"sent": (None, "dotted"), "not returned": (REJECTED, "dashed"), "rejected": (REJECTED, "solid")},
        ("first_error_traces_per_s", "traces_sent_per_s", "traces_returned_per_s"),
    ),
    Figure(
        "load-delays",
        "Delays",
        "Accepted: from the start of a request to its answer. Returned: from the answer to the last span that came "
        "back; what is less than the axis shows is drawn at its begin. By when a trace was sent.",
        ("delay (ms, logarithmic)", "log"),
        lambda one: {name: one.delays_ms[name] for name in DELAYS},
        {"accepted, p95": (INK, "dashed"), "returned, p50": (None, "dotted")},
        ("first_error_send_delay_p95_ms", "first_error_receive_delay_p95_ms"),
    ),
)


def loads(source: Source, colours: Mapping[str, Colour]) -> list[tuple[str, Markup, str]]:
    """Draw each figure that has something to show, with its heading and its caption."""
    by_level = {
        level: [one.course for one in source.observed if one.level == level and one.course is not None]
        for level in source.summary.levels
    }
    errors_s = {level: _first_errors_s(source.summary, level) for level in by_level}
    drawn = []
    for figure in FIGURES:
        published = {level: _published(source, figure, level) for level in by_level}
        bundles = {level: _bundles(figure, trials, colours[level]) for level, trials in by_level.items()}
        shown = {level: found for level, found in bundles.items() if found}
        if shown:
            said = f"A panel for each of {', '.join(shown)}: {figure.title}, over the seconds since the load began."
            marks = Marks("first error", errors_s, published)
            svg = courses(figure.name, figure.title, figure.axis, shown, marks, said)
            lines = " Dash-dotted: what was published (claims, published numbers)." if any(published.values()) else ""
            drawn.append((figure.title, svg, f"{figure.caption}{lines}"))
    return drawn


def _published(source: Source, figure: Figure, level: str) -> list[float]:
    """Return the published values of a level that are on a figure's axis."""
    known = source.verdicts.figures if source.verdicts else ()
    return [one.published for one in known if one.level == level and one.metric in figure.published]


def _first_errors_s(summary: Summary, level: str) -> list[float]:
    """Return when the valid trials of a level had their first error, since the load began; without those without."""
    trials = [trial for trial in summary.trials if trial.counts and trial.level == level]
    return [
        trial.values[FIRST_ERROR_S]
        for trial in trials
        if FIRST_ERROR_S in trial.values and FIRST_ERROR_S not in trial.censored
    ]


def _bundles(figure: Figure, trials: Sequence[Course], colour: Colour) -> list[Bundle]:
    """Return the measures of a level that are more than 0 at some time in some trial."""
    found = [(one.time_s, figure.values(one)) for one in trials]
    curves = {
        name: [
            (time_s[known], values[name][known]) for time_s, values in found for known in [np.isfinite(values[name])]
        ]
        for name in (found[0][1] if found else ())
    }
    return [
        Bundle(name, own or colour, dashes, [curve for curve in of_trials if len(curve[0])])
        for name, of_trials in curves.items()
        for own, dashes in [figure.looks.get(name, (None, "solid"))]
        if any(values.any() for _, values in of_trials)
    ]
