"""What the terminal shows of a run that was analysed: its tables, its views, the verdicts on published claims."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from lab.analysis.claims.records import read_verdicts
from lab.record import read_manifest, read_summary
from lab.report.answers import Answer, answers
from lab.report.compared import compare_views
from lab.report.facts import shared_machine
from lab.report.outages import outages
from lab.report.resilience import resilience
from lab.report.terminal.claims import print_claims
from lab.report.terminal.crossing import print_crossings
from lab.report.terminal.frontier import print_frontiers
from lab.report.terminal.ladder import print_ladders
from lab.report.terminal.levels import print_table
from lab.report.terminal.metric import print_metric
from lab.report.terminal.outage import print_outages
from lab.report.terminal.resilience import print_resilience

MOST_ANSWERS = 4


def print_results(folder: Path, console: Console) -> None:
    """Print what `summary.json`, `manifest.json` and, where there is one, `claims.json` of a results folder say."""
    summary = read_summary(folder / "summary.json")
    manifest = read_manifest(folder)
    print_table(summary, console)
    for sentence in shared_machine(manifest):
        console.print(sentence, highlight=False)
    views = compare_views(summary, manifest)
    print_ladders(views.ladders, console)
    print_crossings(summary, views.crossings, console)
    if errors := resilience(summary, ()):
        print_resilience(errors, console)
    if faults := outages(summary):
        print_outages(faults, console)
    print_frontiers(summary, views.frontiers, console)
    verdicts = folder / "claims.json"
    if verdicts.exists():
        print_claims(read_verdicts(verdicts), console)
    print_answers(answers(summary, manifest, views.crossings), console)


def print_answers(found: Sequence[Answer], console: Console) -> None:
    """Print the answer: its sentences, or of more than can be read at once the highest and the lowest."""
    shown = [("", answer) for answer in found]
    if len(found) > MOST_ANSWERS:
        lowest, *_, highest = sorted(found, key=lambda answer: answer.size or 0)
        shown = [(f"the highest of {len(found)}, ", highest), ("the lowest, ", lowest)]
    console.print("The answer", style="italic", highlight=False)
    for which, answer in shown:
        console.print(f"[bold]{which}{escape(answer.title)}[/]: {escape(answer.text)}", highlight=False)


def print_metric_of(folder: Path, metric: str, console: Console) -> None:
    """Print all that a results folder's `summary.json` says of one metric; raises `UserError` for one it has not."""
    print_metric(read_summary(folder / "summary.json"), metric, console)
