"""What the notebooks' cells call: opens a results folder, and shows its report part by part."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from lab.command.paths import RESULTS, ROOT, results_folder
from lab.errors import UserError
from lab.record import Summary
from lab.report.build import SECTIONS, report, sections, style
from lab.report.source import read
from lab.spec import suggestion

STUDY = "telemetry-overhead"
KEPT = ROOT / "docs" / "results"
KEPT_NOTE = (
    "This is a kept result of the repository. Its estimates come from all trials of a real run. Its raw records are "
    "thinned, and older results have those of one trial per level: figures of latency and over time show only these."
)
UNDONE = """
table { color: inherit; font-size: inherit; table-layout: auto; }
tbody tr, code { background: none; }
dt, dd { float: none; width: auto; font-weight: inherit; }
"""
"""Takes back what Jupyter's own style says of all HTML and the report's does not."""


class Mistake(UserError):
    """A user's mistake; a notebook shows its two lines instead of where in the lab it was found."""

    def _render_traceback_(self) -> list[str]:
        return [f"error: {self.message}", self.hint]


@dataclass(frozen=True)
class Html:
    """HTML, which a notebook shows as a cell's output."""

    text: str = field(repr=False)

    def _repr_html_(self) -> str:
        return self.text


@dataclass(frozen=True)
class Run:
    """A results folder, opened. `summary` has every estimate and every trial's values: docs/reference/formats.md."""

    folder: Path
    summary: Summary = field(repr=False)
    style: str = field(repr=False)
    sections: Mapping[str, str] = field(repr=False)

    def about(self) -> Html:
        """Show which run this is, on what machine and with which versions it was made, and what ended it."""
        folder = self.folder.relative_to(ROOT) if self.folder.is_relative_to(ROOT) else self.folder
        note = f'<p class="caution">{KEPT_NOTE}</p>' if self.folder.parent == KEPT else ""
        return self._html(f"<p>Results folder: <code>{escape(str(folder))}</code></p>{note}{self.sections['manifest']}")

    def show(self, *names: str) -> Html:
        """Show sections of the report, by the names that its own links have; raises `Mistake` for an unknown one."""
        for name in names:
            if name not in SECTIONS:
                raise Mistake(f"the report has no section '{name}'", suggestion(name, SECTIONS))
        missing = '<p class="missing">This run has no {}: its experiment requests none.</p>'
        return self._html("".join(self.sections.get(name, missing.format(name)) for name in names))

    def _html(self, body: str) -> Html:
        return Html(f'<style>{self.style}</style><div class="tollbooth">{body}</div>')


def open_run(folder: str | Path | None = None, study: str = STUDY) -> Run:
    """Open a results folder that was analysed, named as from the repository's top.

    Without a folder: the newest run of `study`, or the kept result in `docs/results` if there is no run here.
    Raises `Mistake` where it is no results folder, or a record in it is missing or broken.
    """
    try:
        named = results_folder(_usual(RESULTS, study) if folder is None else ROOT / folder)
        source = read(named)
        shown = sections(report(named, source))
    except UserError as wrong:
        raise Mistake(wrong.message, wrong.hint) from None
    return Run(named, source.summary, _style(style()), shown)


def _usual(results: Path, study: str) -> Path:
    latest = results / study / "latest"
    return latest if (latest / "summary.json").exists() else KEPT / study


def _style(css: str) -> str:
    """Take the page's style for a part of another page: what it says of the page as a whole is about that part."""
    own = re.sub(r"(:root|\bbody) \{", "& {", css)
    # The class twice, so that these rules win over Jupyter's.
    return f".tollbooth.tollbooth {{ padding: 12px 20px; {UNDONE}{own} }}"
