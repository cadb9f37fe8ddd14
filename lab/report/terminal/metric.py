"""One measure in the terminal, with all of its numbers: `lab table --metric`."""

from rich.console import Console
from rich.markup import escape

from lab.errors import UserError
from lab.record import Summary
from lab.report.findings import estimate_of
from lab.report.numbers import DASH, bounded, fixed, percent
from lab.report.terminal.tables import FINDING_WIDTH, by_level, print_note
from lab.report.view import Row, metric_rows, metric_scale
from lab.spec import suggestion


def print_metric(summary: Summary, name: str, console: Console) -> None:
    """Print a row per level: mean, difference and ratio to the baseline; readable from 100 columns on.

    Raises `UserError` where the run has no such measure.
    """
    if name not in summary.metrics:
        raise UserError(f"this run has no measure '{name}'", suggestion(name, summary.metrics))
    metric = metric_rows(summary, name)
    has_ratios = any(row.ratio.interval for row in metric.rows)
    table = by_level(f"{metric.title} ({metric.unit})" if metric.unit else metric.title, summary.levels)
    table.add_column("n", justify="right", no_wrap=True)
    table.add_column("mean", justify="right", no_wrap=True)
    table.add_column("difference", justify="right")
    if has_ratios:
        table.add_column(f"to {escape(summary.baseline)}", justify="right", no_wrap=True)
        table.add_column("±", justify="right", no_wrap=True)
    table.add_column("finding", min_width=FINDING_WIDTH)
    for row in metric.rows:
        ratio = (row.ratio.text, half_width(summary, name, row.level)) if has_ratios else ()
        mean = mean_text(summary, name, row.level) if has_ratios else row.mean.text
        table.add_row(escape(row.level), row.n, mean, row.difference.text, *ratio, _finding(row))
    note = f"( ) are {percent(summary.confidence)} intervals"
    if has_ratios:
        note = f"± of a mean and {note}; ± of a ratio is half of its interval, in percentage points"
    console.print(table, highlight=False)
    print_note(f"{note}.", console)


def mean_text(summary: Summary, metric: str, level: str) -> str:
    """Format a mean with half of its interval, on the scale of all levels."""
    found, scale = estimate_of(summary, metric, level), metric_scale(summary, metric)
    if found is None:
        return DASH
    half = "" if found.mean_high is None else f" ± {scale.show(found.mean_high - found.mean)}"
    return f"{bounded(scale.show(found.mean), found.censored)}{half}"


def half_width(summary: Summary, metric: str, level: str) -> str:
    """Format half of a ratio's interval, in percentage points; empty where there is none."""
    found = estimate_of(summary, metric, level)
    if found is None or found.ratio_low is None or found.ratio_high is None:
        return ""
    return fixed(50 * (found.ratio_high - found.ratio_low), 1)


def _finding(row: Row) -> str:
    return row.finding.word if row.finding else ""
