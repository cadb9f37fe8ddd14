"""An experiment from plan to raw records: preflight, calibration, trials with bounded retries, resumption."""

import datetime
import itertools
import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lab.analysis import checks
from lab.analysis.analyse import analyse
from lab.engine import provenance
from lab.errors import UserError
from lab.record import records
from lab.run import calibration
from lab.run.plan import Plan, Trial, make_plan, trial_folder_name
from lab.run.progress import Progress, Report
from lab.run.side_by_side import run_side_by_side
from lab.run.stand import Bench
from lab.run.stopping import Budget, budget, narrow_enough
from lab.run.trial import Measured, NotRemoved, StartInterrupted, head, run_start
from lab.spec.experiment import Level
from lab.spec.load import GhzLoad
from lab.target.mesh.profile.capture import Capture

# Below this a record cannot be trusted to be whole.
FULL_DISK_BYTES = 1 << 20
# An open loop without a bound has as many users as it comes to.
OPEN_LOOP = 0


@dataclass(frozen=True)
class Run:
    """A run's folder and what its manifest says so far."""

    folder: Path
    manifest: dict[str, Any]

    def save(self) -> None:
        """Writes the manifest, whole or not at all."""
        records.write_json_atomic(self.folder / "manifest.json", self.manifest)


def new_run(bench: Bench, results: Path, command: list[str], images: dict[str, str]) -> Run:
    """Makes `results/<experiment>/<UTC time>/` with a manifest, and points `latest` at it."""
    now = datetime.datetime.now(datetime.UTC)
    folder = results / bench.experiment.name / now.strftime("%Y-%m-%dT%H%M%SZ")
    folder.mkdir(parents=True)
    plan = make_plan(bench.experiment)
    manifest = {
        "format": "tollbooth.manifest",
        "version": 1,
        "experiment": bench.experiment.name,
        "spec": bench.experiment.model_dump(mode="json"),
        "topology": bench.system.topology.model_dump(mode="json"),
        "topologies": {name: system.topology.model_dump(mode="json") for name, system in bench.systems.items()},
        "seed": bench.experiment.protocol.seed,
        "order": [asdict(trial) for trial in plan.trials],
        "started": now.isoformat(timespec="seconds"),
        "finished": None,
        "command": shlex.join(command),
        "durations_s": {},
        **provenance.collect(bench.system.root, images),
    }
    run = Run(folder, manifest)
    run.save()
    _point_latest(folder)
    return run


# What ends a run, and changes nothing in its trials.
_ENDS = ("budget_min", "half_width", "repetitions")


def unfinished_run(bench: Bench, results: Path) -> Run:
    """The newest run of this experiment that has no end, or another now: a budget, a precision, or more repetitions.

    Raises `UserError` where there is none, or its spec differs in more than that.
    """
    wanted = bench.experiment.model_dump(mode="json")
    order = [asdict(trial) for trial in make_plan(bench.experiment).trials]
    for folder in sorted((results / bench.experiment.name).glob("2*Z"), reverse=True):
        manifest = records.read_json(folder / "manifest.json", "tollbooth.manifest", 1)
        longer = len(order) - len(manifest["order"])
        same = longer >= 0 and _without_ends(manifest["spec"]) == _without_ends(wanted)
        further = same and (longer or (manifest.get("stopped") and manifest["spec"] != wanted))
        if manifest["finished"] is not None and not further:
            continue
        if not same:
            raise UserError(
                f"{folder.name} was begun with another specification of {bench.experiment.name}",
                "undo the change (or the overrides), or start anew without --resume",
            )
        return Run(folder, {**manifest, "spec": wanted, "order": order, "finished": None, "stopped": None})
    raise UserError(f"no interrupted run of {bench.experiment.name} to go on with", "start one without --resume")


def _without_ends(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**spec, "protocol": {name: value for name, value in spec["protocol"].items() if name not in _ENDS}}


def complete(bench: Bench, run: Run, progress: Progress) -> None:
    """Runs what is missing of a run: its calibration, then every trial that has no valid attempt yet.

    Ends before the last block where the protocol's precision is reached or its budget spent; the manifest says so.
    """
    clock, protocol = bench.system.clock, bench.experiment.protocol
    spent_s = run.manifest["durations_s"].get("trials", 0)
    left = budget(bench.experiment, clock, clock.now_s() - spent_s)
    shutil.rmtree(_staging(run), ignore_errors=True)
    users = _users(bench, run, progress)
    plan = make_plan(bench.experiment)
    settled = sum(_settled(bench, run, trial) for trial in plan.trials)
    with progress.trials(len(plan.trials), settled, left.left_s) as report:
        for start in plan.starts():
            in_time = _until_valid(bench, run, plan, start, users, left, progress.say, report)
            run.manifest["durations_s"]["trials"] = round(left.spent_s(), 1)
            run.save()
            if not in_time:
                _stop(run, progress, f"the budget of {protocol.budget_min:g} min allows no further trial")
                break
            if plan.ends_block(start[-1]) and _precise(run, protocol.half_width):
                _stop(run, progress, f"every interval is within ±{protocol.half_width:.1%}")
                break
    if bench.experiment.profile:
        _profile(bench, run, users, progress)
    run.manifest["versions"] |= provenance.service_versions(run.folder)
    run.manifest["finished"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    run.save()


def _stop(run: Run, progress: Progress, why: str) -> None:
    run.manifest["stopped"] = why
    progress.say(f"stopped: {why}")


def _precise(run: Run, half_width: float | None) -> bool:
    return half_width is not None and narrow_enough(analyse(run.folder), half_width)


def _users(bench: Bench, run: Run, progress: Progress) -> int:
    load = bench.experiment.load
    if isinstance(load, GhzLoad):
        return load.concurrency or OPEN_LOOP
    if isinstance(load.users, int):
        return load.users
    if "calibration" not in run.manifest:
        with progress.step("calibrating the load on the baseline"):
            out = _staging(run)
            found = calibration.calibrate(bench, out)
            out.rename(run.folder / "calibration")
        run.manifest["calibration"] = found
        run.save()
    progress.say(calibration.sentence(run.manifest["calibration"]))
    return int(run.manifest["calibration"]["users"])


def _profile(bench: Bench, run: Run, users: int, progress: Progress) -> None:
    started_s, seed = bench.system.clock.now_s(), bench.experiment.protocol.seed

    def measure(level: Level, out: Path) -> Mapping[str, object]:
        (measured,) = run_start(bench, [level], _share(users, level), seed, out)
        return measured.record

    with _disk_watched(run.folder):
        Capture(bench, run.folder, _staging(run), measure).all_levels(progress)
    run.manifest["durations_s"]["profiles"] = round(bench.system.clock.now_s() - started_s, 1)


def _until_valid(
    bench: Bench,
    run: Run,
    plan: Plan,
    start: Sequence[Trial],
    users: int,
    left: Budget,
    say: Callable[[str], None],
    report: Report,
) -> bool:
    """Runs a start's trials until each is valid or refused for good; returns whether the budget allowed that."""
    while unsettled := [trial for trial in start if not _settled(bench, run, trial)]:
        levels = [plan.level(trial) for trial in unsettled]
        if not left.allows(levels[0].start):
            return False
        started_s = bench.system.clock.now_s()
        reasons = _attempt(bench, run, unsettled, levels, users, say)
        shutil.rmtree(_staging(run))
        took_s = bench.system.clock.now_s() - started_s
        left.attempts_s[levels[0].start].append(took_s)
        for trial, why in zip(unsettled, reasons, strict=True):
            report(trial, why, took_s / len(unsettled), _settled(bench, run, trial))
    return True


def _attempt(
    bench: Bench,
    run: Run,
    trials: Sequence[Trial],
    levels: Sequence[Level],
    users: int,
    say: Callable[[str], None],
) -> list[list[str]]:
    """Runs the trials of a start and keeps them; returns of each why it was refused.

    Ctrl-C, and an engine that does not remove a start, keep those that were measured, too.
    """
    try:
        with _disk_watched(run.folder):
            if bench.drivers:
                measured = run_side_by_side(bench, levels, users, trials[0].seed, _staging(run), say)
            else:
                measured = run_start(bench, levels, _share(users, levels[0]), trials[0].seed, _staging(run))
    except (StartInterrupted, NotRemoved) as cut:
        for one in zip(trials, levels, cut.measured, strict=False):
            _judge(run, *one)
        raise
    return [_judge(run, *one) for one in zip(trials, levels, measured, strict=True)]


def _judge(run: Run, trial: Trial, level: Level, measured: Measured) -> list[str]:
    """Judges an attempt, and moves it into place whole; returns why it was refused, nothing if it was not."""
    attempt = len(_attempts(run, trial)) + 1
    folder = run.folder / ".judged"
    shutil.rmtree(folder, ignore_errors=True)
    gather(measured.folder, measured.requests, folder)
    record = {**head(trial, level, attempt), **measured.record}
    records.write_json_atomic(folder / "trial.json", record)
    reasons = checks.reasons(records.read_trial(folder))
    records.write_json_atomic(folder / "trial.json", {**record, "valid": not reasons, "reasons": reasons})
    folder.rename(_folder(run, trial, attempt))
    return reasons


def gather(start: Path, requests: Path, folder: Path) -> None:
    """Makes a trial's folder of what its start left, by links: several trials may share all but their loads."""
    shutil.copytree(start, folder, copy_function=os.link, ignore=shutil.ignore_patterns("requests*", "load-*.json"))
    os.link(requests, folder / "requests.csv")


def _share(users: int, level: Level) -> int:
    """The level's share of the users, at least one."""
    return users and max(1, round(users * level.users_fraction))


@contextmanager
def _disk_watched(folder: Path) -> Iterator[None]:
    """Says that the disk is full where it is: whatever else went wrong in the block then went wrong because of it."""
    try:
        yield
    finally:
        if shutil.disk_usage(folder).free < FULL_DISK_BYTES:
            raise UserError(
                f"the disk of {folder.parent.parent.name}/ is full",
                "make room, then go on with --resume: finished trials are kept",
            )


def _staging(run: Run) -> Path:
    return run.folder / ".in-progress"


def _folder(run: Run, trial: Trial, attempt: int) -> Path:
    folder = run.folder / "trials"
    folder.mkdir(exist_ok=True)
    return folder / trial_folder_name(trial, attempt)


def _attempts_allowed(bench: Bench) -> int:
    return bench.experiment.protocol.retries + 1


def _attempts(run: Run, trial: Trial) -> list[Path]:
    """Folders of a trial's attempts so far, first to last."""
    numbered = (_folder(run, trial, attempt) for attempt in itertools.count(1))
    return list(itertools.takewhile(Path.exists, numbered))


def _settled(bench: Bench, run: Run, trial: Trial) -> bool:
    """Whether a trial has a valid attempt, or none left."""
    attempts = _attempts(run, trial)
    if not attempts:
        return False
    last = records.read_json(attempts[-1] / "trial.json", "tollbooth.trial", 1)
    return bool(last["valid"]) or len(attempts) >= _attempts_allowed(bench)


def _point_latest(folder: Path) -> None:
    """Makes `latest` beside `folder` point at it, replacing the old link in one step."""
    link = folder.parent / ".latest"
    link.unlink(missing_ok=True)
    link.symlink_to(folder.name)
    link.replace(folder.parent / "latest")
