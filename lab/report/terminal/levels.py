"""The result in the terminal: a row per level, the noise floor below, and what was refused and why."""

from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.record.summary import Estimate, Summary
from lab.report.findings import finding_word, has_sidecars, primary_metric, remarks, within_noise
from lab.report.numbers import noise, number, percent, ratio
from lab.report.terminal.tables import LONGEST_NAME, print_note

LATENCY = "latency_p95_ms"
MEMORY = "memory_services_mean_mib"
APP_BYTES = "bytes_per_request_app"
TELEMETRY_BYTES = "bytes_per_request_telemetry"

# From this length on names take the space between columns.
LONG_NAME = 21

COLOURS = {"higher": "yellow", "lower": "cyan", "same within margin": "green", "inconclusive": "dim"}

Row = Mapping[str | None, Estimate]


def print_table(summary: Summary, console: Console) -> None:
    """Print the main metrics of every level, and the refused trials; readable from 100 columns on."""
    console.print(_table(summary))
    print_note(
        f"± and \\[ ] are {percent(summary.confidence)} intervals; the finding is about CPU"
        f"{', that of services and sidecars' if has_sidecars(summary) else ''}. Noise floor: how far from 1 the ratio "
        f"of the {escape(summary.placebo)}, which is the baseline under another name, may be.",
        console,
    )
    for remark in remarks(summary):
        print_note(escape(remark), console)
    for trial in summary.trials:
        if not trial.valid:
            console.print(
                f"[yellow]refused[/] {escape(trial.trial)}: {escape('; '.join(trial.reasons))}", highlight=False
            )


def _table(summary: Summary) -> Table:
    rows = {level: _row(summary, level) for level in summary.levels}
    cpu = primary_metric(summary)
    longest = max(map(len, summary.levels), default=0)
    table = Table(
        title=escape(summary.title), title_justify="left", show_footer=True, padding=(0, 1), pad_edge=False,
        collapse_padding=longest >= LONG_NAME, box=None,
    )  # fmt: skip
    # A finding of several words takes a second line before a name does.
    table.add_column("level", footer="noise floor", overflow="fold", no_wrap=longest <= LONGEST_NAME)
    table.add_column("n", justify="right")
    table.add_column("CPU\nms/req.", justify="right", footer=_noise_floor(summary, cpu))
    table.add_column(f"to {escape(summary.baseline)}", justify="right", no_wrap=True)
    table.add_column("finding")
    table.add_column("p95 ms", justify="right", footer=_noise_floor(summary, LATENCY))
    table.add_column("MiB", justify="right", footer=_noise_floor(summary, MEMORY))
    table.add_column("app\nkB/req.", justify="right", footer=_noise_floor(summary, APP_BYTES))
    table.add_column("telem.\nkB/req.", justify="right")
    for level, row in rows.items():
        table.add_row(
            escape(level),
            str(summary.levels[level].trials),
            _mean(row.get(cpu)),
            _ratio(row.get(cpu)),
            _finding(row.get(cpu)),
            _number(row.get(LATENCY)),
            _number(row.get(MEMORY)),
            _number(row.get(APP_BYTES), per=1000),
            _number(row.get(TELEMETRY_BYTES), per=1000),
        )
    return table


def _row(summary: Summary, level: str) -> Row:
    return {estimate.metric: estimate for estimate in summary.estimates if estimate.level == level}


def _mean(estimate: Estimate | None) -> str:
    if estimate is None or estimate.mean_high is None:
        return _number(estimate)
    return f"{number(estimate.mean)} ± {number(estimate.mean_high - estimate.mean, 2)}"


def _ratio(estimate: Estimate | None) -> str:
    if estimate is None or estimate.ratio is None:
        return ""
    if estimate.ratio_low is None or estimate.ratio_high is None:
        return ratio(estimate.ratio)
    return f"{ratio(estimate.ratio)} [{ratio(estimate.ratio_low)}, {ratio(estimate.ratio_high)}]"


def _finding(estimate: Estimate | None) -> str:
    if estimate is None or estimate.finding is None:
        return ""
    colour = COLOURS["inconclusive" if within_noise(estimate) else estimate.finding]
    return f"[{colour}]{finding_word(estimate)}[/]"


def _number(estimate: Estimate | None, per: int = 1) -> str:
    return number(estimate.mean / per if estimate else None)


def _noise_floor(summary: Summary, metric: str | None) -> str:
    floors = [estimate.noise_floor for estimate in summary.estimates if estimate.metric == metric]
    floor = next((floor for floor in floors if floor is not None), None)
    return "" if floor is None else f"{'±' if floor <= 1 else ''}{noise(floor)}"
