"""Draws which endpoints took the spans of tracers over time, and when one of them had a fault."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from lab.report.endpoint_courses import EndpointCourse
from lab.report.endpoints import endpoints_table
from lab.report.figures.courses import Bundle, Marks, courses
from lab.report.palette import HUES
from lab.report.source import Source
from lab.report.tables import Table


@dataclass(frozen=True)
class Endpoints:
    """Everything that the page says of endpoints; no figure without raw records."""

    figure: Markup | None
    table: Table


def endpoints(source: Source) -> Endpoints | None:
    """Build the part; None where no level has several endpoints."""
    table = endpoints_table(source.summary)
    return Endpoints(_figure(source), table) if table else None


def _figure(source: Source) -> Markup | None:
    """Draw a panel per level: each endpoint's share over time, and when its fault began and ended."""
    known = [(one.level, one.endpoints) for one in source.observed if one.endpoints and len(one.endpoints.time_s)]
    by_level = {level: [of_trial for of, of_trial in known if of == level] for level in source.summary.levels}
    shown = {level: _bundles(trials) for level, trials in by_level.items() if trials}
    if not shown:
        return None
    marks = Marks("fault", {level: [at_s for one in by_level[level] for at_s in one.faults_s] for level in shown})
    said = f"A panel for each of {', '.join(shown)}: each endpoint's share of the accepted spans over time."
    return courses("endpoints", "Shares of the endpoints", ("share of the spans (%)", "linear"), shown, marks, said)


def _bundles(trials: Sequence[EndpointCourse]) -> Sequence[Bundle]:
    """Return a measure for each endpoint, in its own colour."""
    return [
        Bundle(name, colour, "solid", [(one.time_s, one.shares[name]) for one in trials])
        for name, colour in zip(trials[0].shares, HUES, strict=False)
    ]
