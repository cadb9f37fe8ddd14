"""Writes a results folder of made-up trials: one for each check and each of its branches, and one for each fault.

As it was when the golden records were made; it runs with the code at f411f24.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.synthetic import QUICK, Trial, write_json, write_results, write_trial
from tests.synthetic.truth import EPOCH_NS, SECOND_NS
from tests.unit import test_injection_proofs as proofs

Edit = Callable[[Path], None]
Line = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A made-up trial: a good one of `level`, `spoilt` as it is written, then by `edits` of its files."""

    name: str
    level: str = "otel-manual"
    spoilt: dict[str, Any] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()


def write(root: Path) -> None:
    """Write the results folder."""
    write_results(root, blocks=1, refused=False)
    shutil.rmtree(root / "trials")
    (root / "trials").mkdir()
    writers = [*(lambda out, c=case: _write_case(c, out) for case in CASES)]
    writers += [lambda out, s=story: _write_story(out, *s) for story in _stories()]
    names = [*(case.name for case in CASES), *(name for name, *_ in _stories())]
    for number, (name, writer) in enumerate(zip(names, writers, strict=True), start=1):
        folder = root / "trials" / f"{number:03d}-{name}"
        writer(folder)
        _json(lambda trial, n=number: trial.update(number=n))(folder)


def write_run(root: Path) -> None:
    """Write the results folder of a run of three blocks, one rejected attempt, and a claim."""
    write_results(root, window_s=8)
    for logs in root.glob("trials/*/logs"):
        shutil.rmtree(logs)
    manifest = json.loads((root / "manifest.json").read_text())
    manifest["spec"]["claims"] = ["telemetry-overhead"]
    manifest["spec"]["observer"]["rate_hz"] = 1.0
    write_json(root / "manifest.json", manifest)


def _write_case(case: Case, out: Path) -> None:
    trial = replace(Trial(1, 0, case.level, QUICK[case.level]), **case.spoilt)
    # Its time is that of its number: all have the same, so that equal records are equal bytes.
    written = write_trial(out.parent / "new", trial, np.random.default_rng(1))
    shutil.rmtree(written / "logs")
    written.rename(out)
    shutil.rmtree(out.parent / "new")
    for edit in case.edits:
        edit(out)


# --- edits ------------------------------------------------------------------------------------------------------------
def _json(change: Callable[[dict[str, Any]], None]) -> Edit:
    def edit(folder: Path) -> None:
        trial = json.loads((folder / "trial.json").read_text())
        change(trial)
        write_json(folder / "trial.json", trial)

    return edit


def _set(**fields: Any) -> Edit:
    return _json(lambda trial: trial.update(fields))


def _settings(**fields: Any) -> Edit:
    return _json(lambda trial: trial["settings"].update(fields))


def _container(name: str, **fields: Any) -> Edit:
    return _json(lambda trial: trial["containers"][name].update(fields))


def _counters(change: Callable[[Line], Line | None]) -> Edit:
    """Change each line of the counters, or leave it out."""

    def edit(folder: Path) -> None:
        path = folder / "counters.jsonl"
        head, *lines = path.read_text().splitlines()
        changed = (change(json.loads(line)) for line in lines)
        path.write_text("\n".join([head, *(json.dumps(line) for line in changed if line is not None), ""]))

    return edit


def _without(lost: Callable[[Line], bool]) -> Edit:
    return _counters(lambda line: None if lost(line) else line)


def _event(name: str, event: str, after_s: float) -> Edit:
    """Add an event so long after the load's start."""

    def edit(folder: Path) -> None:
        path = folder / "counters.jsonl"
        line = {"kind": "event", "t_ns": START_NS + round(after_s * SECOND_NS), "name": name, "event": event}
        path.write_text(path.read_text() + json.dumps(line) + "\n")

    return edit


def _cut(name: str) -> Edit:
    def edit(folder: Path) -> None:
        path = folder / name
        path.write_text(path.read_text()[:-5])

    return edit


def _requests(change: Callable[[list[str]], list[str] | None]) -> Edit:
    """Change each row of the requests, or leave it out."""

    def edit(folder: Path) -> None:
        path = folder / "requests.csv"
        first, header, *rows = path.read_text().splitlines()
        changed = (change(row.split(",")) for row in rows)
        path.write_text("\n".join([first, header, *(",".join(row) for row in changed if row is not None), ""]))

    return edit


def _failed(status: int, every: int) -> Edit:
    def change(row: list[str]) -> list[str]:
        return [*row[:5], str(status) if int(row[4]) // 1000 % every == 0 else row[5], row[6]]

    return _requests(change)


def _without_requests(from_s: float, to_s: float) -> Edit:
    """Leave out what was under way in a part of the window."""
    start, end = WINDOW_NS + round(from_s * SECOND_NS), WINDOW_NS + round(to_s * SECOND_NS)
    return _requests(lambda row: None if int(row[4]) >= start and int(row[3]) < end else row)


START_NS = Trial(1, 0, "x", QUICK["baseline"]).load_start_ns
WINDOW_NS = Trial(1, 0, "x", QUICK["baseline"]).window_start_ns
MIDDLE_NS = WINDOW_NS + 7 * SECOND_NS


def _goes_back(line: Line) -> Line:
    if line["kind"] == "container" and line["name"] == "a2" and line["t_ns"] > MIDDLE_NS:
        return {**line, "cpu_usage_ns": line["cpu_usage_ns"] // 10}
    return line


def _collected(line: Line) -> Line:
    if line["kind"] == "jvm":
        return {**line, "full_gc_count": line["t_ns"] // (5 * SECOND_NS), "full_gc_time_ns": line["t_ns"] // 50}
    return line


def _after(line: Line) -> bool:
    return bool(line["t_ns"] > MIDDLE_NS)


CASES = (
    *(Case(f"good-{level}", level) for level in QUICK),
    Case("good-at-20-hz", spoilt={"interval_s": 0.05, "window_s": 6, "users": 16}),
    Case("good-with-one-lost-sample", spoilt={"lost_samples_s": (4.0, 5.5)}),
    Case("good-with-the-tail-of-a-warm-up", spoilt={"drift": -0.5}),
    Case("good-with-lost-spans", edits=(_json(lambda trial: trial["backend"].update(accepted_spans=20_000)),)),
    Case("good-without-a-count-of-spans", edits=(_json(lambda trial: trial["backend"].update(accepted_spans=None)),)),
    Case("good-sampled", edits=(_settings(traces="sampled"), _set(expected_spans_per_request=None))),
    Case("good-with-a-second-start", edits=(_set(trace_of_second_start=True),)),
    Case("good-with-other-cpus", edits=(_set(service_cpus=[0], generator_cpus=[1]),)),
    Case("good-with-full-collections", edits=(_counters(_collected),)),
    Case("good-without-jvms", edits=(_without(lambda line: line["kind"] == "jvm"),)),
    Case("good-without-networks", edits=(_without(lambda line: line["kind"] == "network"),)),
    Case("good-without-slow-counters", edits=(_without(lambda line: line["kind"] == "slow"),)),
    Case("no-request", spoilt={"users": 0}),
    Case("observer-killed", edits=(_cut("counters.jsonl"),)),
    Case("generator-killed", edits=(_cut("requests.csv"),)),
    Case("observer-and-generator-killed", edits=(_cut("counters.jsonl"), _cut("requests.csv"))),
    Case("container-restarted-in-the-window", spoilt={"restarted": "a2"}),
    Case("container-restarted-by-the-engine", edits=(_container("a1", restarts=2),)),
    Case("container-restarted-before-the-window", edits=(_event("a1", "restarted", 5),)),
    Case("container-gone-in-the-window", edits=(_event("jaeger", "gone", 12.34),)),
    Case("container-gone-after-the-window", edits=(_event("jaeger", "gone", 25.5),)),
    Case("container-gone-before-the-load", edits=(_event("jaeger", "gone", -1),)),
    Case("container-out-of-memory", spoilt={"oom_killed": "a3"}),
    Case("container-out-of-memory-with-exit-code", edits=(_container("a3", oom_killed=True, exit_code=137),)),
    Case("container-failed", edits=(_container("locust", exit_code=2),)),
    Case("container-never-observed", edits=(_without(lambda line: line.get("name") == "a4"),)),
    Case("containers-observed-in-part", edits=(
        _without(lambda line: line.get("name") == "a4" or (line.get("name") == "a3" and _after(line))),
    )),
    Case("samples-end-early", spoilt={"lost_samples_s": (12.0, 99.0)}),
    Case("samples-begin-late", spoilt={"lost_samples_s": (-99.0, 2.0)}),
    Case("samples-with-a-gap", spoilt={"lost_samples_s": (4.0, 7.9)}),
    Case("counter-goes-back", edits=(_counters(_goes_back),)),
    Case("few-requests", spoilt={"users": 1}),
    Case("late-starts", spoilt={"start_delay_ms": 40.0}),
    Case("generator-without-cpu", spoilt={"generator_cores": 0.95}),
    Case("generator-with-just-enough-cpu", spoilt={"generator_cores": 0.85}),
    Case("failed-requests", spoilt={"failed_requests": 3}),
    Case("unanswered-requests", edits=(_failed(0, 20),)),
    Case("several-failures", spoilt={"failed_requests": 3}, edits=(_failed(0, 20),)),
    Case("drawn-errors-as-expected", edits=(_failed(503, 10), _set(expected_error_fraction=0.1))),
    Case("drawn-errors-too-many", edits=(_failed(503, 2), _set(expected_error_fraction=0.1))),
    Case("drawn-errors-too-few", edits=(_set(expected_error_fraction=0.3),)),
    Case("failed-with-passthrough", spoilt={"failed_requests": 3}, edits=(_settings(sidecar="passthrough"),)),
    Case("failed-with-patterns", spoilt={"failed_requests": 30}, edits=(_settings(sidecar="retries+timeouts"),)),
    Case("host-not-recorded", edits=(_without(lambda line: line["kind"] == "host"),)),
    Case("host-recorded-in-part", edits=(_without(lambda line: line["kind"] == "host" and _after(line)),)),
    Case("host-stolen-from", spoilt={"steal_fraction": 0.07}),
    Case("host-busy-with-others", spoilt={"other_load_cores": 0.5}),
    Case("host-busy-with-systems-beside", spoilt={"other_load_cores": 0.5}, edits=(_set(cores_side_by_side=0.45),)),
    Case("load-stops", edits=(_without_requests(9.5, 99),)),
    Case("load-begins-late", edits=(_without_requests(-99, 5.5),)),
    Case("load-falls", edits=(_without_requests(12, 99),)),
    Case("load-of-few-falls", spoilt={"users": 3, "window_s": 15}, edits=(_without_requests(14.2, 99),)),
    Case("cpu-rises", spoilt={"drift": 0.8}),
    Case("still-warming-up", spoilt={"drift": -0.85}),
    Case("trace-differs", spoilt={"spans_in_trace": 121}),
    Case("trace-missing", edits=(_set(spans_in_trace=0, trace_difference="the backend has no trace"),)),
    Case("several-records-wrong", spoilt={
        "failed_requests": 3, "start_delay_ms": 40.0, "spans_in_trace": 121, "oom_killed": "a3",
    }),
    Case("several-loads-wrong", spoilt={
        "generator_cores": 0.95, "steal_fraction": 0.07, "other_load_cores": 0.5, "drift": 0.8,
    }),
    Case("fault-not-on-record", edits=(_settings(faults=[proofs.declared("frozen")]),)),
)  # fmt: skip


# --- faults -----------------------------------------------------------------------------------------------------------
Told = tuple[str, proofs.Story, list[proofs.Injection], int]


def _stories() -> Iterator[Told]:
    """Yield a name for each story of a fault, what the trial's records say, and what the faults' record says."""
    for kind, shown in proofs.SHOWN.items():
        yield f"fault-{kind}-proved", shown, [proofs.injection(kind, shown)], 0
        injected, lifted = proofs.UNDISTURBED.get(kind, (proofs.Story().injected, proofs.Story().lifted))
        nothing = proofs.Story(injected=injected, lifted=lifted)
        yield f"fault-{kind}-not-there", nothing, [proofs.injection(kind, nothing)], 0
    marks = {mark.name: mark for mark in proofs.test_a_missing_part_is_named.pytestmark}
    for index, (kind, change, _) in enumerate(marks["parametrize"].args[1]):
        story = replace(proofs.SHOWN[kind], **change)
        yield f"fault-{kind}-doubt-{index}", story, [proofs.injection(kind, story)], 0
    marks = {mark.name: mark for mark in proofs.test_a_fault_without_its_whole_course_is_refused.pytestmark}
    for index, (injections, _) in enumerate(marks["parametrize"].args[1]):
        yield f"fault-course-{index}", proofs.Story(), injections, 0
    late = replace(
        proofs.injection("frozen", proofs.SHOWN["frozen"]), lifted=proofs.Action(proofs.at(20.1), proofs.at(20.15), {})
    )
    for error_ns in (0, SECOND_NS // 10):
        yield f"fault-clock-error-{error_ns}", proofs.SHOWN["frozen"], [late], error_ns
    gone = [(t, end, 502 if t >= proofs.BEGIN_S else status) for t, end, status in proofs.asked()]
    story = replace(proofs.SHOWN["killed"], requests=gone)
    yield "fault-without-recovery", story, [proofs.injection("killed", story)], 0
    two = [proofs.injection("frozen", proofs.SHOWN["frozen"]), proofs.injection("cpu-cut", proofs.SHOWN["cpu-cut"])]
    yield "fault-two-one-not-proved", replace(proofs.SHOWN["frozen"], declared=2), two, 0


def _write_story(out: Path, name: str, story: proofs.Story, injections: list[proofs.Injection], error_ns: int) -> None:
    (out / "ready").mkdir(parents=True)
    rows = [
        f"1,s1,{proofs.at(start)},{proofs.at(start)},{proofs.at(end)},{status},1"
        for start, end, status in story.requests
    ]
    head = ["# tollbooth.requests v1", "user,target,intended_ns,start_ns,end_ns,status,bytes"]
    (out / "requests.csv").write_text("\n".join([*head, *rows, ""]))
    lines = [*story.counters(), *(_host(index / 4) for index in range(proofs.LOAD_S * 4))]
    (out / "counters.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    _write_faults(out / "faults.jsonl", injections, error_ns)
    role = {"role": "service", "image": "sha256:" + "0" * 64, "restarts": 0, "oom_killed": False, "exit_code": 0}
    faults = [injection.fault for injection in injections] or [proofs.declared("frozen")]
    write_json(out / "trial.json", {
        "format": "tollbooth.trial", "version": 1, "number": 1, "attempt": 1, "block": 0, "position": 0,
        "level": "otel-manual", "settings": {"telemetry": "baseline", "environment": {}, "faults": faults},
        "valid": True, "reasons": [], "users": 1, "load_start_ns": proofs.at(0),
        "window_start_ns": proofs.at(0.5), "window_end_ns": proofs.at(39.5), "service_cpus": [0, 1],
        "generator_cpus": [0, 1], "containers": {"s2": role}, "startup_s": {"s2": 1.0}, "phases_s": {},
    })  # fmt: skip


def _host(t: float) -> Line:
    busy = {"cpu_user_ns": int(t * 3e8), "cpu_system_ns": int(t * 1e8)}
    rest = dict.fromkeys(("cpu_nice_ns", "cpu_irq_ns", "cpu_softirq_ns", "cpu_steal_ns"), 0)
    return {"kind": "host", "t_ns": EPOCH_NS + round(t * SECOND_NS), "cpus": 2, **busy, **rest}


def _write_faults(path: Path, injections: list[proofs.Injection], error_ns: int) -> None:
    lines: list[Line] = [{"format": "tollbooth.faults", "version": 1, "clock_error_ns": error_ns}]
    for number, injection in enumerate(injections):
        base = {"number": number, "fault": dict(injection.fault)}
        if injection.refused is not None:
            lines.append(
                {**base, "action": "refused", "begin_ns": EPOCH_NS, "end_ns": EPOCH_NS, "reason": injection.refused}
            )
        elif injection.injected is None:
            # A record says of a fault that was not lifted that it was injected.
            lines.append({**base, "action": "inject", **asdict(proofs.Action(EPOCH_NS, EPOCH_NS, {}))})
        for action, took in (("inject", injection.injected), ("lift", injection.lifted)):
            if took is not None:
                lines.append({**base, "action": action, **asdict(took)})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
