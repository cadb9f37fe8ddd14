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

from lab.analysis.analyse import analyse
from lab.analysis.checks import judge, reject
from lab.analysis.sets import WITH_ITS_SET
from lab.engine import provenance
from lab.errors import UserError
from lab.record import MANIFEST_FORMAT, MANIFEST_VERSION, read_manifest, read_trial_record, write_json_atomic
from lab.run import calibration
from lab.run.alternating import run_alternating
from lab.run.at_rate import run_at_rate
from lab.run.attempts import numbered
from lab.run.measure import Measured, NotRemoved, StartInterrupted, run_start
from lab.run.plan import Plan, Trial, make_plan, trial_folder_name
from lab.run.profiles import Capture
from lab.run.progress import Progress, Report
from lab.run.side_by_side import run_side_by_side
from lab.run.start import Context
from lab.run.stopping import Budget, budget, narrow_enough
from lab.run.uninterrupted import uninterrupted
from lab.spec import without_ends

# With less free space a record may be incomplete.
FULL_DISK_BYTES = 1 << 20


@dataclass(frozen=True)
class Run:
    """A run's folder and what its manifest says so far."""

    folder: Path
    manifest: dict[str, Any]

    def save(self) -> None:
        """Writes the manifest completely or not at all."""
        write_json_atomic(self.folder / "manifest.json", self.manifest)


def new_run(context: Context, results: Path, command: list[str], images: dict[str, str]) -> Run:
    """Makes `results/<experiment>/<UTC time>/` with a manifest, and points `latest` at it."""
    now = datetime.datetime.now(datetime.UTC)
    folder = results / context.experiment.name / now.strftime("%Y-%m-%dT%H%M%SZ")
    folder.mkdir(parents=True)
    run = Run(
        folder,
        {
            "format": MANIFEST_FORMAT,
            "version": MANIFEST_VERSION,
            "experiment": context.experiment.name,
            "spec": context.experiment.recorded(),
            **context.target.declaration.manifest(context.experiment),
            "seed": context.experiment.protocol.seed,
            "order": [asdict(trial) for trial in make_plan(context.experiment).trials],
            "attempt": numbered(folder, now, shlex.join(command)),
            "started": now.isoformat(timespec="seconds"),
            "finished": None,
            "command": shlex.join(command),
            "durations_s": {},
            **provenance.collect(context.place.root, images),
        },
    )
    run.save()
    # In one step: `latest` is never missing.
    link = folder.parent / ".latest"
    link.unlink(missing_ok=True)
    link.symlink_to(folder.name)
    link.replace(folder.parent / "latest")
    return run


def unfinished_run(context: Context, results: Path, images: dict[str, str]) -> Run:
    """The newest run of this experiment that was interrupted, or may now continue: longer, more precise, more blocks.

    Raises `UserError` if there is none, its spec differs in more than that, or it measured other images or topologies.
    """
    wanted, trials = context.experiment.recorded(), make_plan(context.experiment).trials
    order = [asdict(trial) for trial in trials]
    for folder in sorted((results / context.experiment.name).glob("2*Z"), reverse=True):
        if not (folder / "manifest.json").exists():
            continue  # interrupted before it began
        manifest = read_manifest(folder)
        longer = len(order) - len(manifest["order"])
        same = longer >= 0 and without_ends(manifest["spec"]) == without_ends(wanted)
        stopped = manifest.get("stopped")
        # After a record was found to be broken, a trial's folder may have been deleted.
        complete = stopped or all((folder / "trials" / trial_folder_name(trial, 1)).exists() for trial in trials)
        further = same and (longer or not complete or (stopped and manifest["spec"] != wanted))
        if manifest["finished"] is not None and not further:
            continue
        if not same:
            raise UserError(
                f"{folder.name} was started with another specification of {context.experiment.name}",
                "undo the change (or the overrides), or start a new run without --resume",
            )
        now = {**context.target.declaration.manifest(context.experiment), "images": provenance.resolved(images)}
        if changed := [name for name, value in now.items() if manifest[name] != value]:
            raise UserError(
                f"{folder.name} measured other {', '.join(changed)} than there are now",
                "start a new run without --resume: its systems would not be the same",
            )
        return Run(folder, {**manifest, "spec": wanted, "order": order, "finished": None, "stopped": None})
    raise UserError(f"no interrupted run of {context.experiment.name} to continue", "start one without --resume")


def complete(context: Context, run: Run, progress: Progress) -> None:
    """Runs what is missing of a run: its calibration, then every trial that has no valid attempt yet.

    Ends before the last block where the protocol's precision is reached or its budget spent; the manifest says so.
    """
    clock, protocol = context.place.clock, context.experiment.protocol
    left = budget(context.experiment, clock, clock.now_s() - run.manifest["durations_s"].get("trials", 0))
    shutil.rmtree(_staging(run), ignore_errors=True)
    found, plan = _found(context, run, progress), make_plan(context.experiment)
    (run.folder / "trials").mkdir(exist_ok=True)
    attempts = Attempts(context, run, plan, found, progress.say)
    with progress.trials(len(plan.trials), sum(map(attempts.settled, plan.trials)), left.left_s) as report:
        for start in plan.starts():
            in_time = attempts.until_valid(start, left, report)
            run.manifest["durations_s"]["trials"] = round(left.spent_s(), 1)
            run.save()
            if not in_time:
                _stop(run, progress, f"the budget of {protocol.budget_min:g} min allows no further trial")
                break
            if (
                protocol.half_width is not None
                and plan.ends_block(start[-1])
                and narrow_enough(analyse(run.folder, context.experiment, context.target), protocol.half_width)
            ):
                _stop(run, progress, f"every interval is within ±{100 * protocol.half_width:g} points")
                break
    if context.experiment.profile:
        _profile(context, run, found, progress)
    run.manifest["versions"] |= {
        name: version
        for folder in sorted(run.folder.glob("trials/*"))
        for name, version in context.target.versions(folder).items()
    }
    run.manifest["finished"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    run.save()


def _stop(run: Run, progress: Progress, why: str) -> None:
    run.manifest["stopped"] = why
    progress.say(f"stopped: {why}")


def _found(context: Context, run: Run, progress: Progress) -> Mapping[str, float]:
    """Returns what the load's schedule finds, by measuring it first if it cannot be known otherwise."""
    if (fixed := context.experiment.load.schedule.fixed()) is not None:
        return fixed
    if "calibration" not in run.manifest:
        with progress.step("calibrating the load"):
            run.manifest["calibration"] = calibration.calibrate(context, _staging(run), progress.say)
            # First: a folder without its line in the manifest could never be replaced.
            run.save()
            _staging(run).rename(run.folder / "calibration")
    progress.say(calibration.sentence(run.manifest["calibration"]))
    return {"users": run.manifest["calibration"]["users"]}


def _profile(context: Context, run: Run, found: Mapping[str, float], progress: Progress) -> None:
    started_s = context.place.clock.now_s()
    with _disk_watched(run.folder):
        Capture(context, run.folder, _staging(run), found).all_levels(progress)
    run.manifest["durations_s"]["profiles"] = round(context.place.clock.now_s() - started_s, 1)


@dataclass(frozen=True)
class Attempts:
    """The attempts at a run's trials. `found`: what the load's schedule found; `say` reports progress."""

    context: Context
    run: Run
    plan: Plan
    found: Mapping[str, float]
    say: Callable[[str], None]

    def until_valid(self, start: Sequence[Trial], left: Budget, report: Report) -> bool:
        """Runs a start's trials until each is valid or finally rejected; returns whether the budget allowed that."""
        name = self.plan.level(start[0]).start
        while unsettled := [trial for trial in start if not self.settled(trial)]:
            if self.context.experiment.at_once and len(unsettled) < len(start):
                lost = ", ".join(trial.level for trial in unsettled)
                raise UserError(
                    f"block {start[0].block + 1} has no trial of {lost}, and its levels are measured together",
                    "delete the folders of the block's other trials, too",
                )
            if not left.allows(name):
                return False
            started_s = self.context.place.clock.now_s()
            reasons = self._attempt(unsettled)
            shutil.rmtree(_staging(self.run))
            took_s = self.context.place.clock.now_s() - started_s
            left.attempts_s[name].append(took_s)
            for trial, why in zip(unsettled, reasons, strict=True):
                report(trial, why, took_s / len(unsettled), self.settled(trial))
        return True

    def settled(self, trial: Trial) -> bool:
        """Whether a trial has a valid attempt, or none left."""
        attempts, retries = self._folders(trial), self.context.experiment.protocol.retries
        return bool(attempts) and (len(attempts) > retries or read_trial_record(attempts[-1]).valid)

    def _attempt(self, trials: Sequence[Trial]) -> list[Sequence[str]]:
        """Runs the trials of a start and keeps them; returns why each was rejected.

        Ctrl-C, and an engine that does not remove a start, keep those that were measured, too.
        """
        try:
            with _disk_watched(self.run.folder):
                measured = self._measured(trials)
        except (StartInterrupted, NotRemoved) as cut:
            self._keep(trials, cut.measured)
            raise
        return self._keep(trials, measured)

    def _measured(self, trials: Sequence[Trial]) -> Sequence[Measured]:
        """Runs the trials of a start in the experiment's way: here it is chosen."""
        context, seed, out = self.context, trials[0].seed, _staging(self.run)
        levels = [self.plan.level(trial) for trial in trials]
        if context.experiment.load.schedule.alternates:
            return run_alternating(context, levels, self.run.manifest.get("calibration", {}), seed, out, self.say)
        if not context.places:
            return run_start(context, levels, self.found, seed, out)
        if "users" in self.found:
            return run_side_by_side(context, levels, self.found, seed, out, self.say)
        # An open loop, which has no users: each system gets the same rate.
        return run_at_rate(context, levels, seed, out, self.say)

    def _keep(self, trials: Sequence[Trial], measured: Sequence[Measured]) -> list[Sequence[str]]:
        """Judges what was measured of a start's trials, and keeps all of it or nothing: a set is measured at once.

        Returns why each was rejected.
        """
        shutil.rmtree(_judged(self.run), ignore_errors=True)
        with _disk_watched(self.run.folder), uninterrupted():
            reasons = [self._judge(*one) for one in zip(trials, measured, strict=False)]
            if self.context.experiment.load.schedule.alternates:
                if any(reasons):
                    reasons = self._reject_set(trials, reasons)
                else:
                    # A rate at which a set was rejected is found again, from the next one.
                    self.run.manifest["calibration"] = measured[0].found
                    self.run.save()
            for trial, _ in zip(trials, measured, strict=False):
                (_judged(self.run) / str(trial.number)).rename(self._folder(trial, len(self._folders(trial)) + 1))
        return reasons

    def _judge(self, trial: Trial, measured: Measured) -> Sequence[str]:
        """Judges an attempt; returns why it was rejected, nothing if it was not."""
        folder = _judged(self.run) / str(trial.number)
        gather(measured.folder, measured.requests, folder)
        record = measured.record(trial, self.plan.level(trial), len(self._folders(trial)) + 1)
        return judge(folder, record, self.context.target.judgement).trial.reasons

    def _reject_set(self, trials: Sequence[Trial], reasons: Sequence[Sequence[str]]) -> list[Sequence[str]]:
        """Rejects all trials of a set of which one was rejected: the set is the unit of statistics."""
        both = list(zip(trials, reasons, strict=True))
        reason = f"{WITH_ITS_SET} {', '.join(trial.level for trial, why in both if why)}"
        return [why or reject(_judged(self.run) / str(trial.number), reason) for trial, why in both]

    def _folders(self, trial: Trial) -> list[Path]:
        """Folders of a trial's attempts so far, first to last."""
        return list(itertools.takewhile(Path.exists, (self._folder(trial, attempt) for attempt in itertools.count(1))))

    def _folder(self, trial: Trial, attempt: int) -> Path:
        return self.run.folder / "trials" / trial_folder_name(trial, attempt)


def gather(start: Path, requests: Path | None, folder: Path) -> None:
    """Makes a trial's folder of what its start left, by links: several trials may share all but their loads."""
    shutil.copytree(
        start,
        folder,
        copy_function=linked,
        ignore=shutil.ignore_patterns("requests*", "joined-*", "load-*.json"),
    )
    if requests is not None:
        linked(requests, folder / "requests.csv")


def linked(source: str | Path, goal: str | Path) -> None:
    """Makes a link, or a copy where the kernel allows none: the file is a container's, whose user is another."""
    try:
        os.link(source, goal)
    except OSError:
        shutil.copyfile(source, goal)


@contextmanager
def _disk_watched(folder: Path) -> Iterator[None]:
    """Reports a full disk, which is then also the cause of any other error in the block."""
    try:
        yield
    finally:
        if shutil.disk_usage(folder).free < FULL_DISK_BYTES:
            raise UserError(
                f"the disk of {folder.parent.parent.name}/ is full",
                "make room, then continue with --resume: finished trials are kept",
            )


def _staging(run: Run) -> Path:
    return run.folder / ".in-progress"


def _judged(run: Run) -> Path:
    """Where trials are judged, in folders by their numbers, before they move into place."""
    return run.folder / ".judged"
