"""The profiled trials of a run: one per level, after the measured ones, in `profiles/<level>/`."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.analysis.checks import judge
from lab.analysis.profile.records import (
    NodeProfile,
    ProfileRecord,
    Slice,
    added_up,
    collapsed,
    level_folder,
    read_collapsed,
    slice_s,
    slices,
    within,
)
from lab.engine import EngineGone
from lab.errors import UserError
from lab.record import NotDerivableError, TrialData, write_json_atomic
from lab.run.measure import run_start
from lab.run.plan import Trial
from lab.run.progress import Progress, minutes
from lab.run.start import Context
from lab.spec import Level

LIBRARY = "/app/profiler/libasyncProfiler.so"
# The kernel looks at a thread's CPU timer at its ticks only. With an interval far below a tick, every tick that meets
# the thread running is a sample; with a longer one, a thread that runs little in a slice would not be seen at all.
OPTIONS = "start,event=ctimer,interval=100us,threads,norm,collapsed"
FILES = "/ready/%{NODE}.%n{10000}.collapsed"


class NoProfile(UserError):
    """A profiled trial left nothing to show; the study continues without it."""


class NoProfiler(NoProfile):
    """The services' image has no profiler: no level will have a profile."""


@dataclass(frozen=True)
class Capture:
    """The profiled trials of one run: `folder` is the run's, `staging` where a trial writes until it is complete.

    `found`: what the load's schedule found.
    """

    context: Context
    folder: Path
    staging: Path
    found: Mapping[str, float]

    def all_levels(self, progress: Progress) -> None:
        """Profile every level that has no profile yet, and say in a line of each that could not be profiled.

        Raises what ends a run: the engine's absence, a full disk.
        """
        levels = [level for level in self._levels() if not self._place(level).exists()]
        if not levels:
            return
        protocol = self.context.experiment.protocol
        load_s = len(levels) * (protocol.expected_warm_up_s + self.context.experiment.expected_window_s())
        progress.say(f"{len(levels)} profiles to make: {minutes(load_s)} of load, which no budget counts")
        for level in levels:
            try:
                with progress.step(f"profiling {level.name}"):
                    self._level(level)
            except EngineGone:
                raise
            except UserError as error:
                shutil.rmtree(self.staging, ignore_errors=True)
                progress.say(f"no profile of {level.name}: {error.message}")
                if isinstance(error, NoProfiler):
                    progress.say(error.hint)
                    return

    def _levels(self) -> Sequence[Level[Any]]:
        """The baseline first: without it the others say little."""
        experiment = self.context.experiment
        return sorted(experiment.levels(), key=lambda level: level.name != experiment.baseline)

    def _place(self, level: Level[Any]) -> Path:
        return self.folder / "profiles" / level_folder(level.name)

    def _level(self, level: Level[Any]) -> None:
        """Run a level's profiled trial and move what is kept of it into place."""
        out, context, seed = self.staging, self.context, self.context.experiment.protocol.seed
        subject = context.target.profiled(level, agent_option(slice_s(context.experiment.expected_window_s())))
        if subject is None:
            raise NoProfiler("the target has no profiler", "leave `profile` out of the experiment")
        try:
            (measured,) = run_start(context, [subject], self.found, seed, out)
        except UserError as error:
            if "Could not find agent library" not in error.hint:
                raise
            raise NoProfiler(
                f"the services' image has no {LIBRARY}", "no level can be profiled: build the image again"
            ) from error
        trial = Trial(number=0, block=0, position=0, level=level.name, seed=seed)
        data = judge(out, measured.record(trial, subject, 1), context.target.judgement)
        write_json_atomic(out / "profile.json", gathered(level.name, data, out).model_dump(mode="json"))
        place = self._place(level)
        place.parent.mkdir(exist_ok=True)
        out.rename(place)


def agent_option(seconds: int) -> str:
    """Return the JVM option that profiles in slices of so many seconds."""
    return f"-agentpath:{LIBRARY}={OPTIONS},loop={seconds}s,file={FILES}"


def gathered(level: str, data: TrialData, out: Path) -> ProfileRecord:
    """Put each service's slices of the window together as `<node>.collapsed` in `out`, and remove them all.

    Raises `NoProfile` where a service has none, or what it cost per request is not known.
    """
    nodes = {}
    for node in data.trial.names("service"):
        chosen = within(slices(out / "ready", node), data.trial.window_start_ns, data.trial.window_end_ns)
        stacks = added_up(read_collapsed(one.path) for one in chosen)
        if not stacks:
            raise NoProfile(f"the profiler of {node} wrote no sample of the window")
        nodes[node] = _node(node, data, chosen, stacks.total())
        (out / f"{node}.collapsed").write_text(collapsed(stacks))
    for path in (out / "ready").glob("*.collapsed"):
        path.unlink()
    return ProfileRecord(level=level, nodes=nodes)


def _node(node: str, data: TrialData, chosen: Sequence[Slice], samples: int) -> NodeProfile:
    start_ns, end_ns = chosen[0].start_ns, chosen[-1].end_ns
    requests = data.requests.served_in(start_ns, end_ns)
    if requests == 0:
        raise NoProfile("no request was served while the profiler sampled")
    try:
        cpu_ns = data.counters.containers[node]["cpu_usage_ns"].increase(start_ns, end_ns)
    except (KeyError, NotDerivableError) as error:
        raise NoProfile(f"the observer's record of {node} does not say what it cost ({error})") from error
    return NodeProfile(
        start_ns=start_ns, end_ns=end_ns, slices=len(chosen), samples=samples, requests=requests, cpu_ns=cpu_ns
    )
