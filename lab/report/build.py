"""Builds `report.html` of a results folder: one page that opens offline."""

from pathlib import Path

from lab.report.claims import claims
from lab.report.compared import compare_views
from lab.report.drawings import draw_all
from lab.report.flame import profiles
from lab.report.outages import outages
from lab.report.render import render
from lab.report.resilience import resilience
from lab.report.source import Source, read
from lab.report.view import page


def build(results_dir: Path) -> Path:
    """Write `report.html` into a results folder that was analysed, and return its path.

    Raises `UserError` where the summary, the manifest or a trial's record is missing or broken.
    """
    html = page_html(results_dir, read(results_dir))
    part = results_dir / ".report.html.part"
    part.write_text(html, encoding="utf-8")
    return part.replace(results_dir / "report.html")


def page_html(results_dir: Path, source: Source) -> str:
    """Return the report of a results folder that was read."""
    compared = compare_views(source.summary, source.manifest)
    return render(
        page(source.summary, source.manifest, source.trials, compared),
        draw_all(source, compared),
        claims(source.verdicts) if source.verdicts else None,
        profiles(results_dir, source.summary),
        resilience(source.summary, source.trials),
        outages(source.summary),
    )
