"""Contradictions between the fields of an experiment, each of which is valid by itself. Pure."""

import math
from collections.abc import Iterator

from lab.spec.experiment import PLACEBO, Experiment
from lab.spec.nearest import suggestion
from lab.spec.problems import Problem, show
from lab.spec.protocol import Protocol
from lab.spec.views import view_problems

MAX_LEVELS = 100
# With the placebo. Each has two networks, and an engine has addresses for 31.
MAX_SIDE_BY_SIDE = 12


def contradictions(experiment: Experiment) -> Iterator[Problem]:
    """Yield what is wrong between fields of any target."""
    if "\n" in experiment.title:
        yield Problem(("title",), "wanted one line")
    for problem in experiment.load.schedule.problems():
        yield Problem(("load", "schedule", *problem.path), problem.text)
    if experiment.load.can("warms-up"):
        yield from _warm_up(experiment.protocol)
    yield from _window(experiment)
    yield from _without_restart(experiment)
    yield from _side_by_side(experiment)
    yield from _levels(experiment)


def _levels(experiment: Experiment) -> Iterator[Problem]:
    for factor, levels in experiment.factors.items():
        if PLACEBO in levels:
            yield Problem(
                ("factors", factor, PLACEBO), "every experiment already has a placebo: give the level another name"
            )
    count = math.prod(len(levels) for levels in experiment.factors.values())
    if count > MAX_LEVELS:
        yield Problem(("factors",), f"make {count} levels, at most {MAX_LEVELS} are possible")
    elif experiment.baseline not in (names := [level.name for level in experiment.levels()]):
        yield Problem(
            ("baseline",), f"no level is called {show(experiment.baseline)}; {suggestion(experiment.baseline, names)}"
        )
    else:
        yield from view_problems(experiment.views, [*names, PLACEBO], experiment.factors)


def _warm_up(protocol: Protocol) -> Iterator[Problem]:
    if protocol.warm_up_s is None and protocol.warm_up_requests is None:
        yield Problem(("protocol", "warm_up_s"), "missing; wanted a number from 0 to 3600, or else warm_up_requests")
    if protocol.warm_up_s is not None and protocol.warm_up_requests is not None:
        yield Problem(("protocol", "warm_up_requests"), "a warm-up ends by time or by requests: leave one out")


def _window(experiment: Experiment) -> Iterator[Problem]:
    if experiment.load.schedule.alternates:
        if experiment.protocol.window_s is not None:
            yield Problem(("protocol", "window_s"), "the window of slices is as long as they take; leave it out")
        return
    counted = experiment.load.can("counted")
    if counted and experiment.protocol.window_s is not None:
        yield Problem(
            ("protocol", "window_s"),
            f"the window of {experiment.load.generator} is as long as its requests take; leave it out",
        )
    if not counted and experiment.protocol.window_s is None:
        yield Problem(("protocol", "window_s"), "missing; wanted a number from 2 to 3600")


def _without_restart(experiment: Experiment) -> Iterator[Problem]:
    for index, factor in enumerate(experiment.protocol.without_restart):
        place = ("protocol", "without_restart", index)
        if factor not in experiment.factors:
            yield Problem(place, f"no factor is called '{factor}'; {suggestion(factor, experiment.factors)}")
        elif not experiment.load.can("reusable"):
            yield Problem(place, f"needs a generator that serves several trials; {experiment.load.generator} does not")


def _rates(experiment: Experiment) -> Iterator[Problem]:
    """Yield rates at which a load that ends by itself would be gone before the observer sees its end."""
    rates = {("observer", "rate_hz"): experiment.observer.rate_hz} | {
        ("factors", factor, name, "observer_rate_hz"): patch.observer_rate_hz
        for factor, patches in experiment.factors.items()
        for name, patch in patches.items()
        if patch.observer_rate_hz is not None
    }
    for place, rate_hz in rates.items():
        if rate_hz < 1:
            yield Problem(place, f"saw {rate_hz:g}; rates below 1 Hz need `side_by_side: true`")


def _side_by_side(experiment: Experiment) -> Iterator[Problem]:
    protocol, place = experiment.protocol, ("protocol", "side_by_side")
    if not experiment.at_once:
        yield from _rates(experiment)
        return
    if protocol.side_by_side and not experiment.load.can("open-ended"):
        yield Problem(place, "needs a closed-loop load, which continues until every level is measured")
    if protocol.warm_up_requests is None:
        yield Problem(("protocol", "warm_up_requests"), "missing; side by side, levels are warm at different times")
    if protocol.retries:
        yield Problem(("protocol", "retries"), "side by side, a single trial cannot be repeated; wanted 0")
    if any(level.settings.needs_own_start for level in experiment.levels()):
        yield Problem(place, "a fault would reach all levels; run levels with faults one after the other")
    if (count := len(experiment.levels()) + 1) > MAX_SIDE_BY_SIDE:
        yield Problem(place, f"{count} levels with the placebo; at most {MAX_SIDE_BY_SIDE} can run at once")
