"""Puts the page's data into its template; everything that is not a figure is escaped."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from lab.report.claims import Claims
from lab.report.drawings import Drawings
from lab.report.flame import Profiles
from lab.report.outages import Outages
from lab.report.palette import PALETTE
from lab.report.resilience import Resilience
from lab.report.view import Page


def render(
    page: Page,
    drawings: Drawings,
    claims: Claims | None = None,
    profiles: Profiles | None = None,
    resilience: Resilience | None = None,
    outages: Outages | None = None,
) -> str:
    """Return the page as HTML with its style inside."""
    environment = Environment(
        loader=PackageLoader("lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    template = environment.get_template("report.html")
    return template.render(
        page=page,
        drawings=drawings,
        claims=claims,
        profiles=profiles,
        resilience=resilience,
        outages=outages,
        palette=PALETTE,
    )
