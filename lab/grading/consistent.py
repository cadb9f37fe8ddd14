"""Where a run contradicts itself. Each check yields sentences; an honest run has none, whatever its values.

The records say most things more than once: the plan follows from the seed, the order of turns too, what all systems
used is in the record of each, the kernel counts CPU time in several ways, and a verdict follows from the records.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any, Protocol, cast

import numpy as np

from lab.analysis.metrics.window import window_requests
from lab.analysis.sets import WITH_ITS_SET
from lab.grading.study import Study
from lab.grading.trial import StudentTrial
from lab.load.schedule import Slices
from lab.record import Summary, Window, different
from lab.run.plan import Trial, make_plan, trial_folder_name
from lab.run.turns import orders
from lab.run.warming import timeline
from lab.spec import Level

SAME_SUM = 1e-6
"""How far a recorded sum may be from the sum of what it is made of, as a share."""
SHARED = 0.05
"""Two trials that share more of their prints than this are one: chance makes them share none."""
UNCOVERED = 0.8
"""Of a block's time: what a run's trials may leave of its duration."""
FIRST_START_S = 20.0
"""What the first start, before any load, may add to that."""


class Printed(Protocol):
    """A trial's name, and what no other trial has."""

    @property
    def name(self) -> str:
        """Its folder."""

    @property
    def prints(self) -> frozenset[int]:
        """See `StudentTrial.prints`."""


def contradictions(study: Study) -> list[str]:
    """Return where a run contradicts itself; nothing for an honest one.

    What the first check finds is enough: where a trial is missing, sums are wrong as well.
    """
    return next((found for check in CHECKS if (found := list(check(study)))), [])


def _finished(study: Study) -> Iterator[str]:
    """The run is finished, and is the one that its manifest names."""
    manifest = study.manifest
    if manifest.get("finished") is None:
        yield "the run is not finished: continue with --resume"
    if manifest["experiment"] != study.experiment.name:
        yield f"the manifest names {manifest['experiment']}, its specification {study.experiment.name}"
    if manifest["seed"] != study.experiment.protocol.seed:
        yield f"the manifest's seed is {manifest['seed']}, its specification's {study.experiment.protocol.seed}"


def _planned(study: Study) -> Iterator[str]:
    """Trials are those of the plan that follows from the seed, without a gap."""
    plan = make_plan(study.experiment)
    if [asdict(trial) for trial in plan.trials] != list(study.manifest["order"]):
        yield "the order of the trials is not the one that follows from the seed"
        return
    by_number = {trial.number: trial for trial in plan.trials}
    attempts: dict[int, list[int]] = {}
    for one in study.trials:
        record = one.data.trial
        attempts.setdefault(record.number, []).append(record.attempt)
        planned = by_number.get(record.number)
        if planned is None:
            yield f"trial {one.name} is not planned"
            continue
        yield from _as_planned(one, planned, plan.level(planned), study)
    for number, found in attempts.items():
        if sorted(found) != list(range(1, len(found) + 1)):
            yield f"an attempt at trial {number} is missing"
    yield from _complete(study, plan.trials, set(attempts))


def _as_planned(one: StudentTrial, planned: Trial, level: Level[Any], study: Study) -> Iterator[str]:
    """Say in what a trial is not the planned one."""
    record = one.data.trial
    if (record.level, record.block, record.position) != (planned.level, planned.block, planned.position):
        yield f"trial {one.name} is of {record.level}, planned was {planned.level}"
        return
    if one.name != trial_folder_name(planned, record.attempt):
        yield f"the folder {one.name} should be {trial_folder_name(planned, record.attempt)}"
    settings = study.target.declaration.level.model_validate(record.settings, strict=False)
    if settings.model_dump(mode="json") != level.recorded():
        yield f"the settings of trial {one.name} are not those of {level.name}"


def _complete(study: Study, plan: Sequence[Trial], found: set[int]) -> Iterator[str]:
    """Trials are left out only at the end, and only if the run was stopped; blocks of systems at once are whole."""
    last = max(found, default=0)
    if missing := [trial.number for trial in plan if trial.number < last and trial.number not in found]:
        yield f"trials are missing: {', '.join(map(str, missing))}"
    if last < len(plan) and not study.manifest.get("stopped"):
        yield f"trials are missing: {last + 1} to {len(plan)}"
    if study.experiment.at_once and last and last % len(study.experiment.all_levels()) != 0:
        yield f"block {plan[last - 1].block + 1} is not complete"


def _covered(study: Study) -> Iterator[str]:
    """The trials fill the time that the run took: none was taken away at its end."""
    blocks, took_s = _windows(study), study.manifest["durations_s"].get("trials")
    begins_ns = [min(_begins_ns(one) for one in study.blocks[block] if one.data.trial.window) for block in blocks]
    if took_s is None or not begins_ns:
        return
    covered_s = (max(window.end_ns for found in blocks.values() for window in found) - min(begins_ns)) / 1e9
    block_s = float(np.median(np.diff(begins_ns))) / 1e9 if len(begins_ns) > 1 else covered_s
    if took_s - covered_s > UNCOVERED * block_s + FIRST_START_S:
        yield f"the run took {took_s:.0f} s, its trials cover {covered_s:.0f} s"


def _begins_ns(one: StudentTrial) -> int:
    """Return when a trial's first load began: that of its window, or of the search that came before it."""
    assert one.data.trial.window is not None
    searches = one.data.streams.get("search", {}).values()
    searched: list[int] = [load.start_ns for search in searches for load in search.trials]
    return min([one.data.trial.window.load_start_ns, *searched])


def _windows(study: Study) -> Mapping[int, Sequence[Window]]:
    """Return the windows of each block that has any."""
    windows = {
        block: [window for one in trials if (window := one.data.trial.window) is not None]
        for block, trials in study.blocks.items()
    }
    return {block: found for block, found in windows.items() if found}


def _in_sequence(study: Study) -> Iterator[str]:
    """A block begins when the one before it has ended."""
    found = list(_windows(study).items())
    for (one, before), (other, after) in pairwise(found):
        if min(window.load_start_ns for window in after) < max(window.end_ns for window in before):
            yield f"block {other + 1} begins before block {one + 1} has ended"


def _same_machine(study: Study) -> Iterator[str]:
    """All trials ran the images that the manifest names, on its CPUs; the valid ones with the load that it found."""
    manifest = study.manifest
    images, found = set(manifest["images"].values()), manifest.get("calibration", {})
    for one in study.trials:
        record = one.data.trial
        for name, container in record.containers.items():
            if container.image not in images:
                yield f"the image of {name} in trial {one.name} is not in the manifest"
        for name, value in record.found.items() if record.valid and study.experiment.load.schedule.alternates else ():
            if name in found and not math.isclose(found[name], value):
                yield f"trial {one.name} had {name} {value:g}, the run {found[name]:g}"
        for counters in one.data.counters_by_machine().values():
            cores = int(counters.host["cpus"].values[-1]) if "cpus" in counters.host else None
            if cores not in (None, manifest["machine"]["cores"]):
                yield f"trial {one.name} saw {cores} CPUs, the manifest {manifest['machine']['cores']}"


def _verdicts(study: Study) -> Iterator[str]:
    """A trial is valid, or rejected, for the reasons that its records show."""
    for block in study.blocks.values():
        culprit = any(_own_reasons(one) for one in block)
        for one in block:
            record, own = one.data.trial, _own_reasons(one)
            if record.valid and one.reasons:
                yield f"trial {one.name} counts as valid, but {one.reasons[0]}"
            elif not record.valid and not own and not culprit:
                yield f"trial {one.name} counts as rejected without a reason"
            elif own and record.streams and not one.reasons:
                yield f"trial {one.name} counts as rejected, but its records show no reason"


def _own_reasons(one: StudentTrial) -> list[str]:
    """Return the recorded reasons of a trial that are not those of another one of its set."""
    return [reason for reason in one.data.trial.reasons if not reason.startswith(WITH_ITS_SET)]


def _trials_agree(study: Study) -> Iterator[str]:
    """The records of each trial agree with each other."""
    for one in study.trials:
        yield from (f"trial {one.name}: {wrong}" for wrong in one.contradictions)


def _sums(study: Study) -> Iterator[str]:
    """What all systems of a block used at once is the sum of what each used."""
    for number, block in study.blocks.items() if study.experiment.at_once else ():
        records = [one.data.trial for one in block]
        if not all(record.valid for record in records):
            continue
        windows = {(record.window_start_ns, record.window_end_ns) for record in records}
        if len(windows) > 1:
            yield f"the systems of block {number + 1} have different windows"
            continue
        all_cores = sum(sum(one.cores.values()) for one in block)
        busy = sum(one.cores_without_spinner for one in block)
        for one, record in zip(block, records, strict=True):
            sums = [(record.cores_side_by_side, all_cores - sum(one.cores.values()))]
            sums += [(record.cores_at_once, busy)] if record.cores_at_once else []
            if not all(math.isclose(*pair, rel_tol=SAME_SUM) for pair in sums):
                yield f"trial {one.name} does not have the sum of what the systems of block {number + 1} used"


def _turns(study: Study) -> Iterator[str]:
    """Systems that alternate have the turns that follow from the seed, and each turn has its requests."""
    if not study.experiment.load.schedule.alternates:
        return
    schedule = cast(Slices, study.experiment.load.schedule)
    size = len(study.experiment.all_levels())
    seeds = {trial.block: trial.seed for trial in make_plan(study.experiment).trials}
    for one in study.trials:
        record = one.data.trial
        if not record.valid or record.block not in seeds:
            continue
        rounds = list(orders(size, int(record.found["rounds"]), seeds[record.block]))
        wanted = timeline(schedule, record.found, rounds, record.window_start_ns)
        if list(record.slices) != wanted.turns(record.position) or record.window_end_ns != wanted.window.end_ns:
            yield f"the turns of trial {one.name} are not those that follow from the seed"
            continue
        begins, ends = (np.array([getattr(turn, name) for turn in record.slices]) for name in ("start_ns", "end_ns"))
        intended = window_requests(one.data).intended_ns
        own = np.searchsorted(begins, intended, side="right") - 1
        inside = (own >= 0) & (intended <= ends[np.maximum(own, 0)])
        counts = np.bincount(own[inside], minlength=len(begins))
        if not inside.all() or np.any(counts != schedule.requests):
            yield f"trial {one.name} does not have {schedule.requests} requests in each of its turns"


def _no_copies(study: Study) -> Iterator[str]:
    """No two trials have the same raw records."""
    prints = [one.prints for one in study.trials]
    if len(frozenset[int]().union(*prints)) == sum(map(len, prints)):
        return  # each is of one trial only
    for one, other, share in shared(study.trials, study.trials):
        if one.name < other.name:
            yield f"trials {one.name} and {other.name} share {share:.0%} of their raw records"


def shared(trials: Sequence[Printed], others: Sequence[Printed]) -> Iterator[tuple[Printed, Printed, float]]:
    """Yield the pairs of two different trials that have raw records in common, and which share of them."""
    owners: defaultdict[int, list[int]] = defaultdict(list)
    for place, other in enumerate(others):
        for one in other.prints:
            owners[one].append(place)
    for trial in trials:
        counts = Counter(place for one in trial.prints for place in owners.get(one, ()))
        for place, count in counts.items():
            share = count / min(len(trial.prints), len(others[place].prints))
            if others[place] is not trial and share > SHARED:
                yield trial, others[place], share


def _summary(study: Study) -> Iterator[str]:
    """The run's summary is what its records give."""
    if study.stored is not None and (wrong := other_numbers(study.stored, study.computed)):
        yield f"summary.json is not what the records give: {wrong} differs (`lab analyse` computes it anew)"


def other_numbers(stored: Summary, computed: Summary) -> str | None:
    """Return the first place where a stored summary has another content than the computed one."""
    one, other = (summary.model_dump(mode="json") for summary in (stored, computed))
    return next(different(one, other), None)


CHECKS: Sequence[Callable[[Study], Iterator[str]]] = (
    _finished,
    _planned,
    _covered,
    _in_sequence,
    _same_machine,
    _verdicts,
    _trials_agree,
    _sums,
    _turns,
    _no_copies,
    _summary,
)
"""In order of cost."""
