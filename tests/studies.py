"""Students' runs for the tests of grading: recorded, resampled, and edited by hand in twelve ways."""

import random
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from lab.analysis.analyse import summarise
from lab.grading.exercise import Exercise, FindingQuestion, ValueQuestion
from lab.grading.keys import Key, key_of
from lab.grading.study import Study, read_study
from lab.grading.trial import CPU, StudentTrial
from lab.record.counters import Counters
from lab.record.data import TrialData
from lab.record.series import Series
from lab.record.summary import Estimate, Summary, TrialSummary, read_manifest, read_summary
from lab.run.plan import make_plan, trial_folder_name
from lab.spec.experiment import Experiment
from tests.labs import LAB, MESH
from tests.repository import ROOT

RESULTS = ROOT / "docs" / "results"
RUNS = ("quick", *(f"quick-{number}" for number in range(2, 11)))
SECOND_NS = 1_000_000_000
READ_OFF = {"ratio": 2, "mean": 1}
"""How many decimals the table has."""


@cache
def recorded() -> Study:
    """Return the one of the runs whose raw records are kept, as if its complete sets had been all that was planned."""
    study = read_study(RESULTS / "quick", LAB)
    return planned(study, len(study.blocks), command=f"lab run quick --set repetitions={len(study.blocks)}")


def planned(study: Study, blocks: int, **manifest: object) -> Study:
    """Return the study's first blocks, as if no more had been planned; `manifest`: what else it says."""
    experiment = study.experiment.model_copy(
        update={"protocol": study.experiment.protocol.model_copy(update={"repetitions": blocks})}
    )
    order = [one for one in study.manifest["order"] if one["block"] < blocks]
    fewer = with_manifest(study, experiment, order=order, stopped=None, **manifest)
    return replace(fewer, trials=[one for one in study.trials if one.data.trial.block < blocks])


@cache
def manifest(run: str) -> Mapping[str, Any]:
    """Return the manifest of one of the runs."""
    return read_manifest(RESULTS / run)


@cache
def sets(metrics: tuple[str, ...]) -> list[list[TrialSummary]]:
    """Return the sets of all runs, with some of their metrics."""
    found = []
    for run in RUNS:
        trials = read_summary(RESULTS / run / "summary.json").trials
        for block in sorted({trial.block for trial in trials}):
            found.append(
                [
                    trial.model_copy(
                        update={"values": {name: trial.values[name] for name in metrics if name in trial.values}}
                    )
                    for trial in trials
                    if trial.block == block
                ]
            )
    return found


def with_summary(study: Study, summary: Summary) -> Study:
    """Return a study whose summary needs not be computed again."""
    study.__dict__["computed"] = summary
    return study


def resampled(exercise: Exercise, draw: random.Random) -> Study:
    """Draw a study of two to four sets out of those of the runs. Of all but one only values are kept."""
    questions = [question for question in exercise.questions.values() if hasattr(question, "metric")]
    metrics = tuple(sorted({question.metric for question in questions}))
    drawn = draw.sample(sets(metrics), draw.choice([2, 3, 4]))
    trials = [trial.model_copy(update={"block": block}) for block, one in enumerate(drawn) for trial in one]
    base = recorded()
    summary = summarise(base.experiment, MESH, trials)
    return with_summary(replace(base, trials=[], stored=None), summary)


# --- what a student does ----------------------------------------------------------------------------------------------
def honest_answers(exercise: Exercise, study: Study) -> dict[str, object]:
    """Return what a student reads off the table; of a drawn trial, off its records."""
    return {name: _read_off(name, exercise, study) for name in exercise.questions}


def _read_off(name: str, exercise: Exercise, study: Study) -> object:
    question = exercise.questions[name]
    rows = {(row.metric, row.level): row for row in study.computed.estimates}
    match question:
        case ValueQuestion(to=None):
            row = rows[question.metric, question.level]
            return round(getattr(row, question.of), READ_OFF[question.of])
        case FindingQuestion(to=None):
            return _finding(rows[question.metric, question.level])
    if question.kind == "beyond-noise":
        row = rows[question.metric, question.level]
        assert row.ratio is not None and row.noise_floor is not None
        return "yes" if abs(round(row.ratio, 2) - 1) > round(row.noise_floor, 3) else "no"
    key = key_of(name, question, study)
    assert key is not None
    return key.words[0] if key.words else float(f"{key.low:.3g}")


def _finding(row: Estimate) -> str | None:
    """Return the table's words."""
    apart = row.ratio_low is not None and row.ratio_high is not None and not row.ratio_low <= 1 <= row.ratio_high
    return "differs by less than 5 %" if row.finding == "same within margin" and apart else row.finding


def wrong_answer(key: Key, draw: random.Random) -> object:
    """Return an answer that the run does not give."""
    if key.low is None or key.high is None:
        return draw.choice([word for word in ("yes", "no", "higher", "lower") if word not in key.words])
    return draw.choice([key.low * (1 - draw.uniform(0.02, 0.9)), key.high * (1 + draw.uniform(0.02, 2))])


# --- how a run is edited ----------------------------------------------------------------------------------------------
class Moved(Mapping[str, Series]):
    """Counters, each at another time."""

    def __init__(self, fields: Mapping[str, Series], by_ns: int) -> None:
        self._fields, self._by_ns = fields, by_ns

    def __getitem__(self, name: str) -> Series:
        found = self._fields[name]
        return Series(found.t_ns + self._by_ns, found.values)

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def with_trials(study: Study, trials: Mapping[int, StudentTrial]) -> Study:
    """Return a study with other trials in some places, analysed again."""
    return replace(study, trials=[trials.get(at, one) for at, one in enumerate(study.trials)], stored=None)


def with_record(trial: StudentTrial, **fields: Any) -> StudentTrial:
    """Return a trial whose `trial.json` says something else."""
    return replace(trial, data=replace(trial.data, trial=trial.data.trial.model_copy(update=fields)))


def with_stream(trial: StudentTrial, name: str, stream: object) -> StudentTrial:
    """Return a trial with other raw records."""
    return replace(trial, data=TrialData(trial.data.trial, {**trial.data.streams, name: {"local": stream}}))


def with_manifest(study: Study, experiment: Experiment | None = None, **fields: Any) -> Study:
    """Return a study whose manifest says something else."""
    found = replace(study, manifest={**study.manifest, **fields}, stored=None)
    return found if experiment is None else replace(found, experiment=experiment)


def requests_moved(trial: StudentTrial, by_ns: int) -> StudentTrial:
    found = trial.data.requests
    times = {name: getattr(found, name) + by_ns for name in ("intended_ns", "start_ns", "end_ns")}
    return with_stream(trial, "requests", replace(found, **times))


def counters_moved(trial: StudentTrial, by_ns: int) -> StudentTrial:
    found: Counters = trial.data.counters
    moved = replace(
        found,
        containers={name: Moved(fields, by_ns) for name, fields in found.containers.items()},
        interfaces=[replace(one, counters=Moved(one.counters, by_ns)) for one in found.interfaces],
        host=Moved(found.host, by_ns),
    )
    return with_stream(trial, "counters", moved)


def record_moved(trial: StudentTrial, by_ns: int) -> StudentTrial:
    record = trial.data.trial
    assert record.window is not None
    edges = ("load_start_ns", "start_ns", "end_ns", "next_ns")

    def later(part: Any) -> Any:
        return part.model_copy(update={name: getattr(part, name) + by_ns for name in edges if hasattr(part, name)})

    return with_record(
        trial,
        window=later(record.window),
        slices=[later(one) for one in record.slices],
        idle=[later(one) for one in record.idle],
    )


def moved(trial: StudentTrial, by_ns: int) -> StudentTrial:
    """Return a trial that was run at another time."""
    return record_moved(counters_moved(requests_moved(trial, by_ns), by_ns), by_ns)


def _any(study: Study, draw: random.Random) -> tuple[int, StudentTrial]:
    at = draw.randrange(len(study.trials))
    return at, study.trials[at]


def change_a_counter(study: Study, draw: random.Random) -> Study:
    """A container uses less or more CPU time in the window."""
    at, trial = _any(study, draw)
    found: Counters = trial.data.counters
    name = draw.choice(sorted(found.containers))
    by = draw.choice([draw.uniform(0.3, 0.97), draw.uniform(1.03, 3)])
    series = found.containers[name][CPU]
    first = int(np.searchsorted(series.t_ns, trial.data.trial.window_start_ns))
    grown = np.rint((series.values - series.values[first]) * by).astype(np.int64) + series.values[first]
    values = np.where(np.arange(len(grown)) >= first, grown, series.values)
    fields = ChainMap({CPU: Series(series.t_ns, values)}, found.containers[name])  # type: ignore[arg-type]
    counters = replace(found, containers={**found.containers, name: fields})
    return with_trials(study, {at: with_stream(trial, "counters", counters)})


def delete_a_trial(study: Study, draw: random.Random) -> Study:
    """An unwelcome trial is not there."""
    at, _ = _any(study, draw)
    return replace(study, trials=[one for place, one in enumerate(study.trials) if place != at], stored=None)


def copy_a_trial(study: Study, draw: random.Random) -> Study:
    """A welcome trial takes the place of another one of its level, with or without that one's times."""
    at, old = _any(study, draw)
    level = old.data.trial.level
    new = draw.choice([one for one in study.trials if one.data.trial.level == level and one is not old])
    if draw.random() < 0.5:
        new = moved(new, old.data.trial.window_start_ns - new.data.trial.window_start_ns)
    head = {name: getattr(old.data.trial, name) for name in ("number", "attempt", "block", "position")}
    return with_trials(study, {at: replace(with_record(new, **head), name=old.name)})


def swap_two_levels(study: Study, draw: random.Random) -> Study:
    """Two trials of a block have each other's names."""
    block = draw.choice(list(study.blocks.values()))
    one, other = draw.sample(list(block), 2)
    swapped = {}
    for mine, its in ((one, other), (other, one)):
        label = {name: getattr(its.data.trial, name) for name in ("level", "settings")}
        name = f"{mine.data.trial.number:03d}-{its.data.trial.level}"
        swapped[list(study.trials).index(mine)] = replace(with_record(mine, **label), name=name)
    return with_trials(study, swapped)


def edit_the_summary(study: Study, draw: random.Random) -> Study:
    """The summary has another number than the records give."""
    summary = study.computed
    at = draw.choice([at for at, row in enumerate(summary.estimates) if row.mean])
    row = summary.estimates[at]
    field = draw.choice([name for name in ("mean", "ratio", "ratio_low", "ratio_high") if getattr(row, name)])
    changed = row.model_copy(update={field: getattr(row, field) * draw.choice([0.5, 0.99, 1.001, 1.5])})
    estimates = [changed if place == at else one for place, one in enumerate(summary.estimates)]
    return with_summary(replace(study, stored=summary.model_copy(update={"estimates": estimates})), summary)


def shift_times(study: Study, draw: random.Random) -> Study:
    """Something of a trial has other times."""
    at, trial = _any(study, draw)
    by_ns = draw.choice([-1, 1]) * round(draw.uniform(0.05, 60) * SECOND_NS)
    return with_trials(study, {at: draw.choice([requests_moved, counters_moved, record_moved])(trial, by_ns)})


def change_the_seed(study: Study, draw: random.Random) -> Study:
    """The manifest names another seed; the order that follows from it is written, too, or not."""
    seed = draw.randrange(2, 2**32)
    if draw.random() < 0.3:
        return with_manifest(study, seed=seed)
    experiment = study.experiment.model_copy(
        update={"protocol": study.experiment.protocol.model_copy(update={"seed": seed})}
    )
    order = [vars(trial) for trial in make_plan(experiment).trials]
    return with_manifest(study, experiment, seed=seed, order=order if draw.random() < 0.5 else study.manifest["order"])


def shrink_the_design(study: Study, draw: random.Random) -> Study:
    """Fewer blocks, as if never more had been planned; the command says so, too, or not."""
    blocks = draw.randrange(1, study.experiment.protocol.repetitions)
    return planned(
        study, blocks, command=draw.choice([study.manifest["command"], f"lab run quick --set repetitions={blocks}"])
    )


def mark_a_rejected_trial_valid(study: Study, draw: random.Random) -> Study:
    """A trial that its records reject counts."""
    at, trial = _any(study, draw)
    record, requests = trial.data.trial, trial.data.requests
    name = draw.choice(sorted(record.containers))
    worse = {"restarts": {"restarts": 1}, "memory": {"oom_killed": True}, "exit": {"exit_code": 1}}
    cause = draw.choice([*worse, "late", "failed"])
    if cause in worse:
        container = record.containers[name].model_copy(update=worse[cause])
        return with_trials(study, {at: with_record(trial, containers={**record.containers, name: container})})
    some = np.zeros(len(requests), dtype=bool)
    some[-draw.randrange(15, 60) :] = True
    if cause == "late":
        by_ns = draw.randrange(150, 900) * 1_000_000
        changed = replace(requests, start_ns=requests.start_ns + by_ns * some, end_ns=requests.end_ns + by_ns * some)
    else:
        changed = replace(requests, status=np.where(some, draw.choice([0, 500, 503]), requests.status))
    return with_trials(study, {at: with_stream(trial, "requests", changed)})


def mix_two_runs(study: Study, draw: random.Random) -> Study:
    """Some blocks are of another run, or all are and the manifest is not."""
    other = manifest(draw.choice(RUNS[1:]))
    if draw.random() < 0.5:
        return with_manifest(study, calibration=other["calibration"], started=other["started"])
    blocks = draw.sample(list(study.blocks), draw.randrange(1, len(study.blocks)))
    return with_trials(
        study,
        {
            at: with_record(one, found=other["calibration"])
            for at, one in enumerate(study.trials)
            if one.data.trial.block in blocks
        },
    )


def change_a_digest(study: Study, draw: random.Random) -> Study:
    """The manifest names another image than the one that ran."""
    images = dict(study.manifest["images"])
    name = draw.choice(sorted(images))
    digits = list(images[name])
    at = draw.randrange(len("sha256:"), len(digits))
    digits[at] = draw.choice([digit for digit in "0123456789abcdef" if digit != digits[at]])
    return with_manifest(study, images={**images, name: "".join(digits)})


EDITS: Sequence[Callable[[Study, random.Random], Study]] = (
    change_a_counter,
    delete_a_trial,
    copy_a_trial,
    swap_two_levels,
    edit_the_summary,
    shift_times,
    change_the_seed,
    shrink_the_design,
    mark_a_rejected_trial_valid,
    mix_two_runs,
    change_a_digest,
)
"""Eleven ways to edit the records; the twelfth edits the answers."""


def first_blocks(study: Study, blocks: int, by_ns: int) -> Study:
    """Return an honest run of fewer blocks, made at another time."""
    lasted_s = study.manifest["durations_s"]["trials"] * blocks / study.experiment.protocol.repetitions
    command = f"lab run quick --set repetitions={blocks}"
    fewer = planned(study, blocks, command=command, durations_s={"trials": lasted_s})
    names = [trial_folder_name(trial, 1) for trial in make_plan(fewer.experiment).trials]
    assert [one.name for one in fewer.trials] == names
    return replace(fewer, trials=[moved(one, by_ns) for one in fewer.trials])
