"""Builds `report.html` of a results folder: one page that opens offline, and each of its sections alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lab.record import write_atomic
from lab.report.claims import Claims, claims
from lab.report.compared import compare_views
from lab.report.drawings import Drawings, draw_all
from lab.report.endpoint_figure import Endpoints, endpoints
from lab.report.first_error import first_error_table
from lab.report.flame import Profiles, profiles
from lab.report.overhead import Overhead, overhead
from lab.report.palette import PALETTE
from lab.report.resilience import Resilience, outages, resilience
from lab.report.source import Source, read
from lab.report.tables import Table
from lab.report.view import Page, page

SECTIONS = {
    "answer": "Answer",
    "claims": "Claims",
    "table": "Table",
    "overhead": "Overhead",
    "intervals": "Intervals",
    "resilience": "Errors",
    "outages": "Outages",
    "endpoints": "Endpoints",
    "ladders": "Ladders",
    "sweeps": "Sweeps",
    "frontiers": "Frontier",
    "interactions": "Interactions",
    "latency": "Latency",
    "loads": "Traces over time",
    "usage": "CPU and memory",
    "jvm": "JVM",
    "profile": "Profile",
    "bytes": "Bytes",
    "trace": "Trace",
    "order": "Order",
    "rejected": "Rejected",
    "manifest": "Manifest",
    "reading": "How to read",
    "again": "Run again",
}
"""The page's sections in their order, with their names in its links; each has a template. Some runs lack some."""


@dataclass(frozen=True)
class Report:
    """What the page shows; None: the run has nothing of the kind."""

    page: Page
    drawings: Drawings
    overhead: Overhead = field(default_factory=Overhead)
    claims: Claims | None = None
    profiles: Profiles | None = None
    resilience: Resilience | None = None
    outages: Table | None = None
    first_error: Table | None = None
    endpoints: Endpoints | None = None


def build(results_dir: Path) -> Path:
    """Write `report.html` into a results folder that was analysed, and return its path.

    Raises `UserError` where the summary, the manifest or a trial's record is missing or broken.
    """
    path = results_dir / "report.html"
    write_atomic(path, render(report(results_dir, read(results_dir))))
    return path


def report(results_dir: Path, source: Source) -> Report:
    """Return what the page shows of a results folder that was read."""
    compared = compare_views(source.summary, source.manifest)
    return Report(
        page(source.summary, source.manifest, source.trials, compared),
        draw_all(source, compared),
        overhead(source.summary),
        claims(source.verdicts) if source.verdicts else None,
        profiles(results_dir, source.summary),
        resilience(source.summary, source.trials),
        outages(source.summary),
        first_error_table(source.summary),
        endpoints(source),
    )


def render(report: Report) -> str:
    """Return the page as HTML with its style inside."""
    found = {name: Markup(html) for name, html in sections(report).items()}
    template = _environment().get_template("report.html")
    return template.render(page=report.page, sections=found, titles=SECTIONS, style=Markup(style()))


def sections(report: Report) -> Mapping[str, str]:
    """Return the HTML of each section that the run has; everything that is not a figure is escaped."""
    found = {
        name: _environment().get_template(f"sections/{name}.html").render(vars(report)).strip() for name in SECTIONS
    }
    return {name: html for name, html in found.items() if html}


def style() -> str:
    """Return the page's style."""
    return _environment().get_template("style.css").render(palette=PALETTE)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
