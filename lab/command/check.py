"""`lab check NAME`: prints what is required of a run, row by row, and exits with 1 if it fails."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from lab.analysis import sets, span_costs, span_pipeline, steady_state, ways
from lab.analysis.checklist import Row
from lab.analysis.collector import predicted, required
from lab.analysis.components import components
from lab.analysis.effects import half_effects, place_effects, predecessor_effects
from lab.analysis.generator_rates import held
from lab.analysis.known_answer import known_answer
from lab.analysis.repeated import AGENT, QUESTION, repeated
from lab.analysis.searches import known_rate, search_spread
from lab.analysis.sick_receivers import sick
from lab.analysis.tracing_costs import changes, precise
from lab.command.commands import console, say
from lab.command.model import required_rows
from lab.command.paths import RESULTS, ROOT, results_folder, shown
from lab.command.runs import read_run, reject_other_designs
from lab.command.slices import slices_of
from lab.errors import UserError
from lab.record import SliceCost, Summary, read_manifest, read_summary
from lab.report.checklist import checklist_table, effects_table
from lab.report.facts import durations_s
from lab.report.tables import Table
from lab.run.attempts import ATTEMPTS

FAILED = 1

app = typer.Typer(no_args_is_help=True, help="Checks what is required of a run; exits with 1 if something fails.")

Run = Annotated[Path | None, typer.Argument(help="A results folder; the newest one, or the kept one, if left out.")]


@app.command(epilog="Example: lab check alternating docs/results/known-answer")
def alternating(run: Run = None) -> None:
    """Checks whether alternating load finds costs that are known (experiment known-answer)."""
    folder = _folder(run, "known-answer")
    summary = read_summary(folder / "summary.json")
    rows = known_answer(summary, _seed(folder))
    _print([checklist_table("Does alternating load find what is known?", rows)])
    if costs := slices_of(folder, summary):
        _print_effects(folder, summary, costs)
    _exit(rows)


@app.command(epilog="Example: lab check quick results/quick/2*Z")
def quick(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Results folders of quick, none left out.")],
) -> None:
    """Checks whether quick gives an answer in each of several runs, and the same."""
    known = [read_run(folder) for folder in runs]
    reject_other_designs(known, runs)
    round_sds = [sd for folder, run in zip(runs, known, strict=True) for sd in _round_sds(folder, run.summary)]
    _conclude(QUESTION, repeated(known, round_sds, attempts_made(runs)))


@app.command(epilog="Example: lab check steady docs/results/steady")
def steady(run: Run = None) -> None:
    """Checks whether the cost of a warm JVM is known well enough, and in time (experiment steady)."""
    folder = _folder(run, "steady")
    summary = read_summary(folder / "summary.json")
    halves = half_effects(slices_of(folder, summary), summary.compared_with, _seed(folder))
    _conclude(steady_state.QUESTION, steady_state.required(summary, _minutes(folder), halves, _rounds(folder)))


@app.command(name="ways", epilog="Example: lab check ways docs/results/slices-400ms docs/results/slices-800ms")
def ways_(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Results folders, one of each way.")],
) -> None:
    """Checks whether several ways to run find the same ratios: each two of them, to 3 %."""
    rows = ways.same_ratios([read_run(folder) for folder in runs])
    for number, folder in enumerate(runs, 1):
        say(f"run {number}: {shown(folder)}")
    _conclude(ways.QUESTION, rows)


@app.command(epilog="Example: lab check model results/collector-model/latest results/collector-model-tail/latest")
def model(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Results folders of collector-model*.")],
) -> None:
    """Checks whether the capacity model predicts points of its grid that it was not fitted to."""
    _conclude(required.QUESTION, required_rows([read_run(folder) for folder in runs]))


@app.command(epilog="Example: lab check effects results/quick/latest")
def effects(run: Run = None) -> None:
    """Prints whether it mattered when the systems of an alternating run had their turns; has no bounds."""
    folder = results_folder(run)
    summary = read_summary(folder / "summary.json")
    costs = slices_of(folder, summary)
    if not costs:
        why = (
            "it has neither slices nor raw records that count"
            if sets.alternating(summary)
            else "its systems did not take turns"
        )
        raise UserError(f"{folder}: {why}", "name a folder of results/, of a run with a schedule of slices")
    _print_effects(folder, summary, costs)


@app.command(name="known-rate", epilog="Example: lab check known-rate results/known-rate/latest")
def known_rate_(run: Run = None) -> None:
    """Checks whether searches find the rate of a sink that is known (experiment known-rate)."""
    _conclude("Do searches find a rate that is known?", known_rate(_summary(run, "known-rate")))


@app.command(name="search-spread", epilog="Example: lab check search-spread results/collector-search/latest")
def search_spread_(run: Run = None) -> None:
    """Checks whether searches of one Collector find the same rate (experiment collector-search)."""
    rows = search_spread(_summary(run, "collector-search"))
    _conclude("Do searches find the same rate again?", rows)


@app.command(epilog="Example: lab check sampling")
def sampling() -> None:
    """Checks whether a Collector's sampling of 100,000 traces is predicted, decision by decision (two releases)."""
    decided = json.loads((ROOT / "fixtures" / "sampling.v1.json").read_text())
    _conclude(predicted.QUESTION, predicted.predicted(decided))


@app.command(epilog="Example: lab check proxy results/proxy-tracing/latest")
def proxy(run: Run = None) -> None:
    """Checks how precisely a run measures what Envoy's tracers cost (experiment proxy-tracing)."""
    folder = _folder(run, "proxy-tracing")
    rows = precise(read_summary(folder / "summary.json"), _minutes(folder))
    _conclude("Is the cost of each tracer known well enough?", rows)


@app.command(epilog="Example: lab check threshold results/proxy-batching/latest")
def threshold(run: Run = None) -> None:
    """Prints exports per second before and after Envoy's runtime changed, and how soon (proxy-batching)."""
    _conclude("When does a new threshold take effect?", changes(_summary(run, "proxy-batching")))


@app.command(name="span-jmh", epilog="Example: lab check span-jmh results/span-jmh/latest")
def span_jmh(run: Run = None) -> None:
    """Checks whether spans that are streamed cost as little as is required (experiment span-jmh)."""
    folder = _folder(run, "span-jmh")
    rows = span_costs.required(read_summary(folder / "summary.json"), _seed(folder))
    _conclude(span_costs.QUESTION, rows)


@app.command(name="span-pipeline", epilog="Example: lab check span-pipeline results/span-pipeline/latest")
def span_pipeline_(run: Run = None) -> None:
    """Checks whether a streaming tracer saves a system as much as is required (experiment span-pipeline)."""
    folder = _folder(run, "span-pipeline")
    rows = span_pipeline.required(read_summary(folder / "summary.json"), _seed(folder))
    _conclude(span_pipeline.QUESTION, rows)


@app.command(name="span-saturation", epilog="Example: lab check span-saturation results/span-saturation/latest")
def span_saturation(run: Run = None) -> None:
    """Checks up to which load each tracer delivers every span, and at what cost (experiment span-saturation)."""
    folder = _folder(run, "span-saturation")
    rows = span_pipeline.saturation(read_summary(folder / "summary.json"), _seed(folder))
    _conclude(span_pipeline.SATURATION_QUESTION, rows)


@app.command(epilog="Example: lab check generator results/proxy-generator/latest")
def generator(run: Run = None) -> None:
    """Prints which rate the open-loop generator holds while a proxy runs (experiment proxy-generator)."""
    rows = held(_summary(run, "proxy-generator"))
    _print([checklist_table("Which rate does the generator hold?", rows)])
    # Rates above the required one may be missed: they show where the limit is.
    _exit(rows[-1:])


@app.command(epilog="Example: lab check receivers results/proxy-faults/latest")
def receivers(run: Run = None) -> None:
    """Checks that a proxy goes on serving while the receiver of its spans is sick (experiment proxy-faults)."""
    _conclude("How does a failing receiver affect requests?", sick(_summary(run, "proxy-faults")))


def _folder(run: Path | None, experiment: str) -> Path:
    """The folder of a run, or of the newest one of an experiment."""
    return results_folder(run or _newest(experiment))


def _summary(run: Path | None, experiment: str) -> Summary:
    """The summary of a run, or of the newest one of an experiment."""
    return read_summary(_folder(run, experiment) / "summary.json")


def _conclude(question: str, rows: Sequence[Row]) -> None:
    """Prints the rows. Ends the program if one fails."""
    _print([checklist_table(question, rows)])
    _exit(rows)


def _exit(rows: Sequence[Row]) -> None:
    """Ends the program if a row fails."""
    if not all(row.passed for row in rows):
        raise typer.Exit(FAILED)


def _newest(experiment: str) -> Path:
    """The newest run of an experiment that was analysed, otherwise the kept one."""
    runs = sorted(path.parent for path in RESULTS.glob(f"{experiment}/2*Z/summary.json"))
    kept = ROOT / "docs" / "results" / experiment
    if not runs and not kept.exists():
        raise UserError(f"there is no run of {experiment}", f"run `lab experiment {experiment}`")
    return runs[-1] if runs else kept


def _seed(folder: Path) -> int:
    return int(read_manifest(folder)["spec"]["protocol"]["seed"])


def _minutes(folder: Path) -> float:
    """How long a run took, from its set-up to its report."""
    return sum(durations_s(read_manifest(folder)).values()) / 60


def _rounds(folder: Path) -> int | None:
    """How many rounds each set of a run had, as its first valid set found it; None if there is none."""
    found = read_manifest(folder).get("calibration", {})
    return int(found["rounds"]) if "rounds" in found else None


def attempts_made(runs: Sequence[Path]) -> int | None:
    """How many attempts the list beside these runs has; None where they have none, or not the same one."""
    log, *others = {folder.resolve().parent / ATTEMPTS for folder in runs}
    return None if others or not log.exists() else len(log.read_text().splitlines())


def _round_sds(folder: Path, summary: Summary) -> list[float]:
    """By how much the agent's ratio scatters between the rounds of a set; nothing where its slices are gone."""
    found = components(slices_of(folder, summary), summary.compared_with)
    return [one.round_sd for one in found if one.level == AGENT]


def _print_effects(folder: Path, summary: Summary, costs: Sequence[SliceCost]) -> None:
    seed = _seed(folder)
    found = {
        "Place in the round": place_effects(costs, seed),
        "The system that had the slice before": predecessor_effects(costs, seed),
        "First and second half of a set's rounds": half_effects(costs, summary.compared_with, seed),
    }
    _print([effects_table(title, effects) for title, effects in found.items() if effects])


# Matplotlib takes a second to load, which other commands are not to wait for.
def _print(tables: Sequence[Table]) -> None:
    from lab.report.terminal import print_tables  # noqa: PLC0415

    print_tables(tables, console)
