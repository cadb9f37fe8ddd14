"""Does alternating load find what is known? The rows of `lab check alternating`, from a run's summary. Pure.

The levels are those of experiments/known-answer.yaml.
"""

from typing import Literal

from lab.analysis.analyse import contrasts
from lab.analysis.checklist import Row, at_least, at_most, contains, within
from lab.analysis.overheads import overhead_ratio
from lab.analysis.sets import MOST_REJECTED_PERCENT, rejected_percent
from lab.analysis.stats import Interval
from lab.errors import UserError
from lab.record import Estimate, Summary

IN_REQUEST, LATER, IDLE = "burn-in-request", "burn-later", "burn-idle"
AGENT, AGAIN = "otel-agent", "otel-agent-again"
LEVELS = (IN_REQUEST, LATER, IDLE, AGENT, AGAIN)

COST = "cpu_per_request_services_ms"
WITHOUT_IDLE = "cpu_per_request_without_idle_services_ms"
IDLE_CORES = "cpu_idle_services_cores"
BURNED, BURNED_IDLE = "burned_per_request_ms", "burned_idle_cores"

# Required: fewer sets say too little about the next ones.
LEAST_SETS = 8
# Equal systems: "agree within ±2 %".
AGREEMENT = 0.02
# Of what (c) burns while idle: what else a system may use then, and still not have moved the idle column.
IDLE_AGREEMENT = 0.1
# What the services burned by their own clocks, compared with what was configured.
BURN_ACCURACY = 0.01


def known_answer(summary: Summary, seed: int) -> list[Row]:
    """Judge a run of the known-answer systems. `seed`: of the experiment, for the intervals of pairs of levels.

    Raises `UserError` if the run lacks one of the levels.
    """
    if missing := [level for level in LEVELS if level not in summary.levels]:
        raise UserError(
            f"this run has no level {', '.join(missing)}", "run `lab experiment known-answer`, and name its folder"
        )
    in_request_ms = _setting(summary, IN_REQUEST, "BURN_IN_REQUEST_US") / 1000
    later_ms = _setting(summary, LATER, "BURN_LATER_US") / 1000
    idle_cores = _setting(summary, IDLE, "BURN_IDLE_FRACTION")
    cost, idle = summary.estimates_of(COST), summary.estimates_of(IDLE_CORES)
    pairs = contrasts(summary, COST, [(LATER, IN_REQUEST), (AGAIN, AGENT)], seed)
    idle_pairs = contrasts(summary, IDLE_CORES, [(AGAIN, AGENT)], seed) if idle else {}
    burns = overhead_ratio(summary, COST, LATER, IN_REQUEST, summary.compared_with, seed)
    idle_margin = IDLE_AGREEMENT * idle_cores
    return [
        at_least("sets that count", min(level.trials for level in summary.levels.values()), LEAST_SETS),
        at_most("sets rejected", rejected_percent(summary), MOST_REJECTED_PERCENT, " %"),
        contains("placebo / baseline", _of(cost.get(summary.placebo), "ratio"), 1.0),
        _burned("(a) in the request: burned", summary, BURNED, IN_REQUEST, in_request_ms, " ms"),
        contains("(a) in the request: found", _of(cost.get(IN_REQUEST), "difference"), in_request_ms, 2, " ms"),
        _idle("(a) in the request: idle CPU", idle.get(IN_REQUEST), idle_margin),
        _burned("(b) 2 s later: burned", summary, BURNED, LATER, later_ms, " ms"),
        contains("(b) 2 s later: found", _of(cost.get(LATER), "difference"), later_ms, 2, " ms"),
        _idle("(b) 2 s later: idle CPU", idle.get(LATER), idle_margin),
        _agree("(b) / (a)", _of(pairs.get((LATER, IN_REQUEST)), "ratio")),
        _agree("(b) burn / (a) burn", burns),
        _burned("(c) while idle: burned", summary, BURNED_IDLE, IDLE, idle_cores, " cores"),
        contains("(c) while idle: found", _of(idle.get(IDLE), "difference"), idle_cores, 4, " cores"),
        _agree("(c) / baseline, without idle CPU", _of(summary.estimate_of(WITHOUT_IDLE, IDLE), "ratio")),
        _agree("(d) second agent / first", _of(pairs.get((AGAIN, AGENT)), "ratio")),
        _idle("(d) second agent: idle CPU", idle_pairs.get((AGAIN, AGENT)), idle_margin),
    ]


def _setting(summary: Summary, level: str, variable: str) -> float:
    return float(summary.levels[level].settings["environment"][variable])


def _of(row: Estimate | None, kind: Literal["mean", "ratio", "difference"]) -> Interval | None:
    """Return one of the estimates of a row, with its interval; None where there is none."""
    value = getattr(row, kind, None)
    return None if value is None else Interval(value, getattr(row, f"{kind}_low"), getattr(row, f"{kind}_high"))


def _burned(name: str, summary: Summary, metric: str, level: str, configured: float, unit: str) -> Row:
    mean = _of(summary.estimate_of(metric, level), "mean")
    return within(name, mean, configured * (1 - BURN_ACCURACY), configured * (1 + BURN_ACCURACY), 4, unit)


def _agree(name: str, ratio: Interval | None) -> Row:
    return within(name, ratio, 1 - AGREEMENT, 1 + AGREEMENT)


def _idle(name: str, row: Estimate | None, margin: float) -> Row:
    """Require the same idle CPU as that of the level that a row is compared with."""
    return within(name, _of(row, "difference"), -margin, margin, 4, " cores")
