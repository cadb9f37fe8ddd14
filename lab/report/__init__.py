"""Builds `report.html` of a results folder: one page that opens offline."""

from pathlib import Path

from lab.report.drawings import draw_all
from lab.report.render import render
from lab.report.source import read
from lab.report.view import page


def build(results_dir: Path) -> Path:
    """Write `report.html` into a results folder that was analysed, and return its path.

    Raises `UserError` where the summary, the manifest or a trial's record is missing or broken.
    """
    source = read(results_dir)
    html = render(page(source.summary, source.manifest, source.trials), draw_all(source))
    part = results_dir / ".report.html.part"
    part.write_text(html, encoding="utf-8")
    return part.replace(results_dir / "report.html")
