"""What a load's schedule finds before the first trial, from one start of all systems that are measured at once."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.run.cost import request_of
from lab.run.measure import run_start
from lab.run.side_by_side import run_side_by_side
from lab.run.start import Context

# What a request costs, to a tenth, is known after half a minute.
LONGEST_WINDOW_S = 30.0


def calibrate(context: Context, out: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Runs a small load, its records in `out`; returns the manifest's `calibration`.

    Side by side the load goes to all systems of a block, otherwise to the baseline alone. A request's cost is that of
    all containers, instruments included. `say` reports progress.
    """
    schedule, cpus = context.experiment.load.schedule, len(context.place.cpus.services)
    guess = schedule.guess(cpus)
    protocol = context.experiment.protocol
    window_s = min(protocol.window_s or LONGEST_WINDOW_S, LONGEST_WINDOW_S)
    shorter = protocol.model_copy(update={"window_s": window_s})
    smaller = replace(context, experiment=context.experiment.model_copy(update={"protocol": shorter}))
    if context.places:
        levels = context.experiment.all_levels()
        measured = run_side_by_side(smaller, levels, guess, protocol.seed, out, say)
    else:
        baseline = context.experiment.baseline_level()
        # Faults would make a request cost another amount.
        without = {"faults": ()} if baseline.settings.needs_own_start else {}
        levels = (replace(baseline, settings=baseline.settings.model_copy(update=without)),)
        measured = run_start(smaller, levels, guess, protocol.seed, out)
    cpu_ms, latency_ms = request_of(measured)
    # Users are counted as if each level had all of its share.
    full_share = sum(level.settings.users_fraction for level in levels) / len(levels)
    return {
        **schedule.from_cost(cpus, cpu_ms * full_share, latency_ms / 1000),
        **{f"guess_{name}": value for name, value in guess.items()},
        "cpu_per_request_ms": cpu_ms,
        "latency_mean_ms": latency_ms,
        "service_cpus": cpus,
        "systems": len(levels),
    }


def sentence(found: dict[str, Any]) -> str:
    """The calibration in words."""
    return (
        f"{found['users']} users: a request took {found['cpu_per_request_ms']:.0f} ms of CPU in all containers; "
        f"the target is {found['target_fraction']:.0%} of {found['service_cpus']} CPUs"
    )
