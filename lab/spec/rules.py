"""Contradictions between the fields of an experiment, each of which is valid by itself. Pure."""

import math
from collections.abc import Iterator

from lab.spec.experiment import PLACEBO, Experiment
from lab.spec.problems import Path, Problem, show, suggestion
from lab.spec.views import contrast_problems, view_problems

MAX_LEVELS = 100
# With the placebo. Each has two networks, and an engine has addresses for 31.
MAX_SIDE_BY_SIDE = 12


def contradictions(experiment: Experiment) -> Iterator[Problem]:
    """Yield what is wrong between fields of any target."""
    if "\n" in experiment.title:
        yield Problem(("title",), "expected one line")
    for problem in experiment.load.schedule.problems():
        yield Problem(("load", "schedule", *problem.path), problem.text)
    yield from _times(experiment)
    yield from _without_restart(experiment)
    if wrong := list(_levels(experiment)):
        yield from wrong
    else:
        yield from _users(experiment)
        yield from _side_by_side(experiment) if experiment.at_once else _rates(experiment)


def _those(*rules: tuple[bool, Path, str]) -> Iterator[Problem]:
    """Yield a problem for each rule that is broken: whether it is, where, and what is wrong then."""
    return (Problem(place, text) for broken, place, text in rules if broken)


def _times(experiment: Experiment) -> Iterator[Problem]:
    """Yield what is wrong with the warm-up and the window, each of which ends in one of two ways."""
    protocol, load = experiment.protocol, experiment.load
    timed, by_requests = protocol.warm_up_s is not None, protocol.warm_up_requests is not None
    warms_up, counted, turns = load.can("warms-up"), load.can("counted"), load.schedule.alternates
    return _those(
        (
            warms_up and not timed and not by_requests,
            ("protocol", "warm_up_s"),
            "missing; expected a number from 0 to 3600, or else warm_up_requests",
        ),
        (
            warms_up and timed and by_requests,
            ("protocol", "warm_up_requests"),
            "a warm-up ends by time or by requests: leave one out",
        ),
        (
            counted and protocol.window_s is not None,
            ("protocol", "window_s"),
            f"the window of {load.generator} is as long as its requests take; leave it out",
        ),
        (
            turns and protocol.window_s is not None,
            ("protocol", "window_s"),
            "the window of slices is as long as they take; leave it out",
        ),
        (
            protocol.until_settled and not turns,
            ("protocol", "until_settled"),
            "systems are waited for in slices only: expected a schedule of kind slices",
        ),
        (
            turns and experiment.profile,
            ("profile",),
            "a profiled trial needs a load of its own, slices are sent to all systems of a set",
        ),
        (
            not counted and not turns and protocol.window_s is None,
            ("protocol", "window_s"),
            "missing; expected a number from 2 to 3600",
        ),
    )


def _without_restart(experiment: Experiment) -> Iterator[Problem]:
    for index, factor in enumerate(experiment.protocol.without_restart):
        place = ("protocol", "without_restart", index)
        if factor not in experiment.factors:
            yield Problem(place, f"no factor is called '{factor}'; {suggestion(factor, experiment.factors)}")
        elif not experiment.load.can("reusable"):
            yield Problem(place, f"needs a generator that serves several trials; {experiment.load.generator} does not")


def _users(experiment: Experiment) -> Iterator[Problem]:
    """Yield the levels with a share of users that the load does not have."""
    schedule, fixed = experiment.load.schedule, experiment.load.schedule.fixed()
    users = (schedule.guess(1) if fixed is None else fixed).get("users")
    return _those(
        *(
            (
                not users and level.settings.users_fraction != 1,
                ("factors",),
                f"level '{level.name}': users_fraction: this load has no users",
            )
            for level in experiment.levels()
        )
    )


def _rates(experiment: Experiment) -> Iterator[Problem]:
    """Yield rates at which a load that ends by itself would be gone before the observer sees its end."""
    rates = {("observer", "rate_hz"): experiment.observer.rate_hz} | {
        ("factors", factor, name, "observer_rate_hz"): patch.observer_rate_hz
        for factor, patches in experiment.factors.items()
        for name, patch in patches.items()
        if patch.observer_rate_hz is not None
    }
    return _those(
        *(
            (rate_hz < 1, place, f"got {rate_hz:g}; rates below 1 Hz need `side_by_side: true`")
            for place, rate_hz in rates.items()
        )
    )


def _side_by_side(experiment: Experiment) -> Iterator[Problem]:
    protocol, place, levels = experiment.protocol, ("protocol", "side_by_side"), experiment.all_levels()
    return _those(
        (
            protocol.side_by_side and not (experiment.load.can("open-ended") or experiment.load.can("at-times")),
            place,
            "needs users, who continue until every level is measured, or an open loop",
        ),
        (
            protocol.side_by_side and experiment.load.schedule.alternates,
            place,
            "slices are sent to one system at a time; leave it out",
        ),
        (
            protocol.warm_up_requests is None,
            ("protocol", "warm_up_requests"),
            "missing; side by side, levels are warm at different times",
        ),
        (
            protocol.retries > 0,
            ("protocol", "retries"),
            "side by side, a single trial cannot be repeated; expected 0",
        ),
        (
            any(level.settings.needs_own_start for level in levels),
            place,
            "a fault would reach all levels; run levels with faults one after the other",
        ),
        (
            len(levels) > MAX_SIDE_BY_SIDE,
            place,
            f"{len(levels)} levels with the placebo; at most {MAX_SIDE_BY_SIDE} can run at once",
        ),
    )


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
        names = [level.name for level in experiment.all_levels()]
        yield from contrast_problems(experiment.headline, names)
        yield from view_problems(experiment.views, names, experiment.factors)
