"""The results folders: what each run found, and its report."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lab.errors import UserError
from lab.page.answers import Wrong
from lab.record import Estimate, Summary, read_manifest, read_summary
from lab.report.tables import finding_of

SUMMARY, REPORT = "summary.json", "report.html"


class Runs:
    """The runs below `results`; `root` is the repository's. A summary is read again only when it has changed."""

    def __init__(self, results: Path, root: Path) -> None:
        self.results = results
        self.root = root
        self._read: dict[Path, tuple[int, dict[str, Any]]] = {}

    def listed(self) -> list[dict[str, Any]]:
        """Return all runs that were analysed, the newest first. A run whose files are broken is left out."""
        found = [run for folder in self._folders().values() if (run := self._run(folder))]
        return sorted(found, key=lambda run: str(run["started"]), reverse=True)

    def report(self, folder: str) -> Path:
        """Return the report of a run by its folder as `listed` has it. Raises `Wrong`.

        The name is looked up, never joined to a path.
        """
        path = self._folders().get(folder)
        if path is None or not _has_report(path):
            raise Wrong(404, "there is no such run, or it has no report: `make report` writes one")
        return path / REPORT

    def _folders(self) -> Mapping[str, Path]:
        """The runs' folders, without links to them, such as `latest`."""
        found = (path.parent for path in self.results.glob(f"*/*/{SUMMARY}"))
        return {folder.relative_to(self.root).as_posix(): folder for folder in found if not folder.is_symlink()}

    def _run(self, folder: Path) -> dict[str, Any] | None:
        written_ns = (folder / SUMMARY).stat().st_mtime_ns
        if self._read.get(folder, (0, {}))[0] != written_ns:
            try:
                found = run(read_summary(folder / SUMMARY), read_manifest(folder))
            except UserError:
                return None
            self._read[folder] = (written_ns, found)
        name = folder.relative_to(self.root).as_posix()
        link = f"/api/report?folder={quote(name)}" if _has_report(folder) else None
        return {"folder": name, **self._read[folder][1], "report": link}


def _has_report(folder: Path) -> bool:
    """Whether a run has a report that is a file of its own: somebody else's folder may have a link to any file."""
    return (folder / REPORT).is_file() and not (folder / REPORT).is_symlink()


def run(summary: Summary, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run found: a row for each level and measure that answers its question. Pure."""
    answering = {summary.headline.primary, *summary.headline.also}
    rows = [
        _row(summary, one)
        for one in summary.estimates
        if one.metric in answering and one.finding is not None and one.level != summary.placebo
    ]
    return {
        "experiment": summary.experiment,
        "started": manifest.get("started"),
        "verdicts": dict(Counter(row["verdict"] for row in rows)),
        "rows": rows,
    }


def _row(summary: Summary, estimate: Estimate) -> dict[str, Any]:
    return {
        "level": estimate.level,
        "outcome": summary.metrics[estimate.metric].title,
        "ratio": estimate.ratio,
        "low": estimate.ratio_low,
        "high": estimate.ratio_high,
        "bound": estimate.comparison_censored,
        "verdict": finding.word if (finding := finding_of(summary, estimate)) else None,
    }
