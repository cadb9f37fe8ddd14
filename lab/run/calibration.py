"""How many users make the baseline use the wished share of the services' CPUs, on this machine."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.analysis import metrics
from lab.record import records
from lab.run.plan import Trial
from lab.run.stand import Bench
from lab.run.trial import head, run_start
from lab.spec.load import UsersLoad

FIRST_GUESS_USERS_PER_CPU = 8
# What a request costs, to a tenth, is known after half a minute.
LONGEST_WINDOW_S = 30.0


def calibrate(bench: Bench, out: Path) -> dict[str, Any]:
    """Runs the baseline once with a guessed load, its records in `out`; returns the manifest's `calibration`."""
    load, cpus = bench.experiment.load, len(bench.system.cpus.services)
    assert isinstance(load, UsersLoad)  # only users can be calibrated
    guess = FIRST_GUESS_USERS_PER_CPU * cpus
    level, seed = bench.experiment.baseline_level(), bench.experiment.protocol.seed
    trial = Trial(number=0, block=0, position=0, level=level.name, seed=seed)
    (measured,) = run_start(_alone(bench), [level], guess, seed, out)
    records.write_json_atomic(out / "trial.json", {**head(trial, level, attempt=1), **measured.record})
    values = metrics.values(records.read_trial(out))
    cpu_ms, latency_ms = values["cpu_per_request_services_ms"], values["latency_mean_ms"]
    think_s = sum(load.think_time_s) / 2
    return {
        "users": users(load.baseline_cpu_fraction, cpus, cpu_ms, think_s, latency_ms / 1000),
        "guess_users": guess,
        "cpu_per_request_ms": cpu_ms,
        "latency_mean_ms": latency_ms,
        "target_fraction": load.baseline_cpu_fraction,
        "service_cpus": cpus,
    }


def _alone(bench: Bench) -> Bench:
    """The bench with a window no longer than is needed here."""
    protocol = bench.experiment.protocol
    window_s = min(protocol.window_s or LONGEST_WINDOW_S, LONGEST_WINDOW_S)
    shorter = protocol.model_copy(update={"window_s": window_s})
    return replace(bench, experiment=bench.experiment.model_copy(update={"protocol": shorter}))


def users(fraction: float, cpus: int, cpu_per_request_ms: float, think_s: float, latency_s: float) -> int:
    """Users of a closed loop whose requests together cost `fraction` of `cpus`.

    A user asks every `think_s + latency_s` (Little's law), so N users ask N / (think_s + latency_s) times a second.
    """
    requests_per_s = fraction * cpus * 1000 / cpu_per_request_ms
    return max(1, math.floor(requests_per_s * (think_s + latency_s) + 0.5))


def sentence(found: dict[str, Any]) -> str:
    """The calibration in words."""
    return (
        f"{found['users']} users: the baseline took {found['cpu_per_request_ms']:.0f} ms of CPU per request, "
        f"and is to use {found['target_fraction']:.0%} of {found['service_cpus']} CPUs"
    )
