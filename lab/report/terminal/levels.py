"""The result in the terminal: a row per level, the noise floor below, and the rejected trials with their reasons."""

from collections.abc import Mapping
from textwrap import wrap

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.record import Estimate, Summary
from lab.report.findings import finding_word, remarks, title_of, within_noise
from lab.report.numbers import bounded, noise, number, percent, ratio
from lab.report.terminal.tables import FINDING_WIDTH, LONGEST_NAME, print_note
from lab.report.view import metric_scale

HEADING_WIDTH = 10
RATIO_WIDTH = len("1.00 [0.99, 1.01]")

COLOURS = {"higher": "yellow", "lower": "cyan", "same within margin": "green", "inconclusive": "dim"}

Row = Mapping[str, Estimate]


def print_table(summary: Summary, console: Console) -> None:
    """Print the headline of every level, and the rejected trials; readable from 100 columns on."""
    console.print(_table(summary))
    print_note(
        f"± and \\[ ] are {percent(summary.confidence)} intervals. The finding is about "
        f"{escape(title_of(summary, summary.headline.primary))}. Noise floor: how much "
        f"the {escape(summary.placebo)}, the baseline under another name, may differ; smaller differences are noise.",
        console,
    )
    for remark in remarks(summary):
        print_note(escape(remark), console)
    for trial in summary.trials:
        if not trial.valid:
            console.print(
                f"[yellow]rejected[/] {escape(trial.trial)}: {escape('; '.join(trial.reasons))}", highlight=False
            )


def _table(summary: Summary) -> Table:
    rows = {level: _row(summary, level) for level in summary.levels}
    primary, columns = summary.headline.primary, summary.headline.columns
    longest = max(map(len, summary.levels), default=0)
    table = Table(
        title=escape(summary.title), title_justify="left", show_footer=True, padding=(0, 1), pad_edge=False,
        collapse_padding=True, box=None,
    )  # fmt: skip
    # A finding of several words takes a second line before a name does.
    table.add_column("level", footer="noise floor", overflow="fold", no_wrap=longest <= LONGEST_NAME)
    table.add_column("n", justify="right")
    table.add_column(_heading(summary), justify="right", footer=_noise_floor(summary, primary))
    table.add_column(_ratio_heading(summary), justify="right", no_wrap=True)
    table.add_column("finding", min_width=FINDING_WIDTH)
    for column in columns:
        table.add_column(escape(column.heading), justify="right", footer=_noise_floor(summary, column.metric))
    for level, row in rows.items():
        table.add_row(
            escape(level),
            str(summary.levels[level].trials),
            _mean(row.get(primary), metric_scale(summary, primary).factor),
            _ratio(row.get(primary)),
            _finding(row.get(primary)),
            *(_number(row.get(column.metric), column.per) for column in columns),
        )
    return table


def _row(summary: Summary, level: str) -> Row:
    return {estimate.metric: estimate for estimate in summary.estimates if estimate.level == level}


def _heading(summary: Summary) -> str:
    """Return what the primary metric is, in short lines, with its unit below."""
    return escape(
        "\n".join([*wrap(summary.headline.what, HEADING_WIDTH), metric_scale(summary, summary.headline.primary).unit])
    )


def _ratio_heading(summary: Summary) -> str:
    name = summary.baseline if len(summary.baseline) <= RATIO_WIDTH else "the baseline"
    return f"ratio to\n{escape(name)}"


def _mean(estimate: Estimate | None, per: float) -> str:
    if estimate is None or estimate.mean_high is None:
        return _number(estimate, per)
    return f"{number(estimate.mean / per)} ± {number((estimate.mean_high - estimate.mean) / per, 2)}"


def _ratio(estimate: Estimate | None) -> str:
    if estimate is None or estimate.ratio is None:
        return ""
    if estimate.ratio_low is None or estimate.ratio_high is None:
        return bounded(ratio(estimate.ratio), estimate.comparison_censored)
    return f"{ratio(estimate.ratio)} [{ratio(estimate.ratio_low)}, {ratio(estimate.ratio_high)}]"


def _finding(estimate: Estimate | None) -> str:
    if estimate is None or estimate.finding is None:
        return ""
    colour = COLOURS["inconclusive" if within_noise(estimate) else estimate.finding]
    return f"[{colour}]{finding_word(estimate)}[/]"


def _number(estimate: Estimate | None, per: float) -> str:
    return bounded(number(estimate.mean / per), estimate.censored) if estimate else number(None)


def _noise_floor(summary: Summary, metric: str) -> str:
    floors = [estimate.noise_floor for estimate in summary.estimates if estimate.metric == metric]
    floor = next((floor for floor in floors if floor is not None), None)
    return "" if floor is None else f"{'±' if floor <= 1 else ''}{noise(floor)}"
