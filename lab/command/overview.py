"""What could be run, and how long it would take here: `lab list` and `lab plan`."""

import math
import statistics
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from lab.analysis.lab import Lab
from lab.command.expected import earlier_runs, expected_lines
from lab.contract import Declaration
from lab.errors import UserError
from lab.record import read_trial_record
from lab.run.calibration import LONGEST_WINDOW_S
from lab.run.plan import Plan, blocks_for_precision, estimate_duration_s, make_plan
from lab.run.progress import minutes
from lab.spec import Experiment, Level, Protocol, load_experiment

# Before anything has run here: what a trial took, besides warm-up and window, on the 2 cores that the lab was built on.
FIRST_GUESS_S = 25.0
# Between-block standard deviation of the logarithm of a ratio, before there is a result to take it from.
FIRST_GUESS_SD = 0.03


def print_experiments(console: Console, lab: Lab, experiments: Path, results: Path) -> None:
    """Lists the experiments, and how long each takes here."""
    table = Table("experiment", "trials", "takes here", "question", box=None, pad_edge=False)
    for path in sorted(experiments.glob("*.yaml")):
        experiment = load_experiment(path, lab.grammar)
        plan = make_plan(experiment)
        takes_s = duration_s(experiment, plan, lab.target(experiment).declaration, results)
        if experiment.protocol.budget_min is not None:
            takes_s = min(takes_s, 60 * experiment.protocol.budget_min)
        table.add_row(experiment.name, str(len(plan.trials)), minutes(takes_s), experiment.title)
    console.print(table)
    console.print("run one: make experiment EXPERIMENT=<name>", highlight=False)


def print_plan(console: Console, experiment: Experiment, lab: Lab, half_width: float, results: Path) -> None:
    """Shows the order of trials, their time, and how many blocks `half_width` needs."""
    if not 0 < half_width < 1:
        raise UserError(f"--half-width {half_width:g} is out of range", "give a fraction between 0 and 1, e.g. 0.02")
    plan = make_plan(experiment)
    table = Table("block", "order", box=None, pad_edge=False)
    for block in range(experiment.protocol.repetitions):
        order = [trial.level for trial in plan.trials if trial.block == block]
        table.add_row(str(block + 1), "  ".join(order))
    console.print(table)
    takes_s = duration_s(experiment, plan, lab.target(experiment).declaration, results)
    sd, source = _spread(experiment, results)
    blocks = blocks_for_precision(sd, half_width)
    times, budget_min = blocks / experiment.protocol.repetitions, experiment.protocol.budget_min
    # More than the estimate: it may be too low, and no trial starts that would probably end after the budget.
    budget = f" --set budget_min={math.ceil(max(1, times) * max(budget_min, takes_s / 50))}" if budget_min else ""
    console.print(
        f"{len(plan.trials)} trials, about {minutes(takes_s)} here{_ends_sooner(experiment.protocol)}.\n"
        f"Intervals of ±{half_width:.1%} of the ratio need {blocks} blocks "
        f"({source}: ratios vary by {sd:.1%} between blocks), "
        f"about {minutes(takes_s * times)}: --set repetitions={blocks}{budget}",
        *expected_lines(experiment, results / experiment.name / "latest"),
        sep="\n",
        highlight=False,
        soft_wrap=True,
    )


def _ends_sooner(protocol: Protocol) -> str:
    ends = [
        *([f"after {minutes(60 * protocol.budget_min)} at the latest"] if protocol.budget_min is not None else []),
        *(
            [f"sooner once every interval is within ±{100 * protocol.half_width:g} points"]
            if protocol.half_width
            else []
        ),
    ]
    return f", ending {', or '.join(ends)}" if ends else ""


def duration_s(experiment: Experiment, plan: Plan, declaration: Declaration, results: Path) -> float:
    """Seconds that a plan takes here, by what trials with the same telemetry took before."""
    seen = _starts_s(declaration, results)
    usual = statistics.mean(seen.values()) if seen else FIRST_GUESS_S
    per_level = {level.name: seen.get(declaration.start_group(level), usual) for level in plan.levels}
    calibrating_s = 0.0
    if experiment.load.schedule.fixed() is None:
        window_s = min(experiment.expected_window_s(), LONGEST_WINDOW_S)
        starts_s = per_level.values() if experiment.at_once else [per_level[experiment.baseline]]
        calibrating_s = sum(start_s + experiment.protocol.expected_warm_up_s for start_s in starts_s) + window_s
    return calibrating_s + estimate_duration_s(plan, experiment, per_level)


def _starts_s(declaration: Declaration, results: Path) -> Mapping[str, float]:
    """What trials took besides load, by group of levels, over the newest run of each experiment."""
    taken: dict[str, list[float]] = {}
    for path in results.glob("*/latest/trials/*/trial.json"):
        try:
            trial = read_trial_record(path.parent)
            settings = declaration.level.model_validate(trial.settings, strict=False)
        except (UserError, ValidationError):
            # Of another version of the lab, or of another target.
            continue
        besides_load_s = sum(seconds for phase, seconds in trial.phases_s.items() if phase != "load")
        group = declaration.start_group(Level(trial.level, settings))
        taken.setdefault(group, []).append(besides_load_s)
    return {group: statistics.mean(times) for group, times in taken.items()}


def _spread(experiment: Experiment, results: Path) -> tuple[float, str]:
    """Between-block standard deviation of the primary metric's log ratio, over all levels, and where it is from."""
    for which, _, summary in earlier_runs(experiment, results / experiment.name / "latest"):
        rows = [row for row in summary.estimates if row.metric == summary.headline.primary]
        variances = [row.log_ratio_sd**2 for row in rows if row.log_ratio_sd]
        if variances:
            return math.sqrt(statistics.mean(variances)), f"from the {which}"
    return FIRST_GUESS_SD, "a guess, as no run has two blocks"
