"""One measure in the terminal, with all that is known of it: `lab table --metric`."""

from rich.console import Console
from rich.markup import escape

from lab.errors import UserError
from lab.nearest import suggestion
from lab.records import Estimate, Summary
from lab.report.findings import estimate_of
from lab.report.numbers import fixed, percent
from lab.report.view import Row, metric_rows
from lab.tables import by_level


def print_metric(summary: Summary, name: str, console: Console) -> None:
    """Print a row per level: mean, difference and ratio to the baseline; readable from 100 columns on.

    Raises `UserError` where the run has no such measure.
    """
    if name not in summary.metrics:
        raise UserError(f"this run has no measure '{name}'", suggestion(name, summary.metrics))
    metric = metric_rows(summary, name)
    has_ratios = any(row.ratio.interval for row in metric.rows)
    table = by_level(f"{metric.title} ({metric.unit})", summary.levels)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("difference", justify="right")
    if has_ratios:
        table.add_column(f"to {escape(summary.baseline)}", justify="right", no_wrap=True)
        table.add_column("±", justify="right", no_wrap=True)
    table.add_column("finding")
    for row in metric.rows:
        ratio = (row.ratio.text, _half_width(estimate_of(summary, name, row.level))) if has_ratios else ()
        table.add_row(escape(row.level), row.n, row.mean.value, row.difference.text, *ratio, _finding(row))
    told = f"( ) are {percent(summary.confidence)} intervals"
    half = "; ± is half of the ratio's, in percentage points" if has_ratios else ""
    console.print(table, highlight=False)
    console.print(f"{told}{half}.", style="dim", highlight=False)


def _half_width(estimate: Estimate | None) -> str:
    if estimate is None or estimate.ratio_low is None or estimate.ratio_high is None:
        return ""
    return fixed(50 * (estimate.ratio_high - estimate.ratio_low), 1)


def _finding(row: Row) -> str:
    return row.finding.word if row.finding else ""
