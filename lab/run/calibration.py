"""What a load's schedule finds before the first trial, from one run of the baseline."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.analysis.checks import judge
from lab.analysis.metrics import values
from lab.run.measure import run_start
from lab.run.plan import Trial
from lab.run.start import Context

# What a request costs, to a tenth, is known after half a minute.
LONGEST_WINDOW_S = 30.0


def calibrate(context: Context, out: Path) -> dict[str, Any]:
    """Runs the baseline once with a guessed load, its records in `out`; returns the manifest's `calibration`."""
    schedule, cpus = context.experiment.load.schedule, len(context.place.cpus.services)
    guess = schedule.guess(cpus)
    level, seed = context.experiment.baseline_level(), context.experiment.protocol.seed
    trial = Trial(number=0, block=0, position=0, level=level.name, seed=seed)
    window_s = min(context.experiment.protocol.window_s or LONGEST_WINDOW_S, LONGEST_WINDOW_S)
    protocol = context.experiment.protocol.model_copy(update={"window_s": window_s})
    shorter = replace(context, experiment=context.experiment.model_copy(update={"protocol": protocol}))
    (measured,) = run_start(shorter, [level], guess, seed, out)
    data = judge(out, measured.record(trial, level, 1), context.target.judgement)
    found = values(data, context.target.judgement.metrics)
    cpu_ms, latency_ms = found["cpu_per_request_services_ms"], found["latency_mean_ms"]
    return {
        **schedule.from_cost(cpus, cpu_ms, latency_ms / 1000),
        **{f"guess_{name}": value for name, value in guess.items()},
        "cpu_per_request_ms": cpu_ms,
        "latency_mean_ms": latency_ms,
        "service_cpus": cpus,
    }


def sentence(found: dict[str, Any]) -> str:
    """The calibration in words."""
    return (
        f"{found['users']} users: the baseline took {found['cpu_per_request_ms']:.0f} ms of CPU per request; "
        f"the target is {found['target_fraction']:.0%} of {found['service_cpus']} CPUs"
    )
