"""`lab model`, `lab check model` and `lab size`, on the grids of the experiments with costs that are known."""

import json
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.analysis.analyse import summarise
from lab.analysis.collector.capacity import LEAST_HELD_BACK, TICK_S, Load, read_model, size, write_model
from lab.analysis.collector.duration import seconds
from lab.analysis.collector.grid import CPU, MEMORY, RATE, SPAN_BYTES, grids
from lab.analysis.collector.required import required
from lab.analysis.runs import Run
from lab.command import model
from lab.command.model import fitted, required_rows
from lab.command.runs import read_run
from lab.errors import UserError
from lab.record import Summary, TrialSummary
from lab.spec import load_experiment
from tests.command_line import one_line
from tests.forked import lab
from tests.labs import LAB, ROOT

MACHINE = {"cpu_model": "a CPU", "cores": 2, "memory_bytes": 8 << 30, "kernel": "6.1"}
GRID, TAIL = "collector-model", "collector-model-tail"
SIZE = ("size", "--spans-per-s", "50000", "--span-bytes", "800", "--spans-per-trace", "10")
WAKE_UP_US = 150.0


def truth(settings: Mapping[str, Any]) -> Mapping[str, float]:
    """What a level's trial measures. A trace costs 80 µs and a wake-up, tail sampling holds 3 times the bytes."""
    spans, attributes, length = settings["spans"][0], settings["attributes"][0], settings["attribute_bytes"][0]
    per_s, span_bytes = settings["traces_per_s"] * spans, 75 + attributes * (16 + length) + 45 / spans
    woken = 5 + 0.5 * attributes + 0.01 * span_bytes + (80 + WAKE_UP_US) / spans
    wait_s = seconds(settings["environment"].get("DECISION_WAIT", "0s"))
    wait_s += TICK_S if wait_s else 0
    mib = (
        70 + wait_s * (settings["traces_per_s"] + 0.6 * per_s) / 1e3 + (wait_s or 0.2) * per_s * 3 * span_bytes / 2**20
    )
    cpu = woken / (1 + WAKE_UP_US * settings["traces_per_s"] / 1e6)
    return {CPU: cpu, MEMORY: mib, RATE: per_s, SPAN_BYTES: span_bytes}


@cache
def run(name: str, noise: float = 0.02) -> Run:
    """A run of one of the two experiments."""
    draw = np.random.default_rng(1)
    experiment = load_experiment(ROOT / "experiments" / f"{name}.yaml", LAB.grammar)
    trials = []
    for place, level in enumerate(experiment.all_levels()):
        values = truth(level.settings.model_dump(mode="json"))
        costs = {cost: values[cost] * draw.lognormal(sigma=noise) for cost in (CPU, MEMORY)}
        trials.append(
            TrialSummary(
                trial=f"{place:03d}", level=level.name, block=0, valid=True, reasons=[], values={**values, **costs}
            )
        )
    manifest = {
        "format": "tollbooth.manifest", "version": 2, "experiment": name, "machine": MACHINE, "seed": 1,
        "started": "2026-11-26T02:00:00+00:00", "finished": "2026-11-26T02:40:00+00:00",
    }  # fmt: skip
    return Run("2026-11-26T020000Z", manifest, summarise(experiment, LAB.target(experiment), trials))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Both runs, as far as the commands read them."""
    root = tmp_path_factory.mktemp("runs")
    for name in (GRID, TAIL):
        folder = root / name
        folder.mkdir()
        (folder / "manifest.json").write_text(json.dumps(run(name).manifest))
        (folder / "summary.json").write_text(run(name).summary.model_dump_json())
    return [str(root / name) for name in (GRID, TAIL)]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The model of both runs."""
    path = tmp_path_factory.mktemp("model") / "capacity-model.json"
    write_model(path, fitted([run(GRID), run(TAIL)]))
    return str(path)


def failed(*runs: Run) -> set[str]:
    return {row.name for row in required(grids([one.summary for one in runs]), 1) if not row.passed}


def test_both_grids_determine_the_model_with_twelve_points_held_back() -> None:
    assert failed(run(GRID), run(TAIL)) == set()
    assert len(list(required(grids([run(GRID).summary, run(TAIL).summary]), 1))) == 12


def test_the_memory_of_tail_sampling_is_required() -> None:
    assert failed(run(GRID)) == {"memory of a pipeline that holds traces"}


def test_noise_fails() -> None:
    assert {"basic: error of CPU per span", "basic: error of memory"} <= failed(run(GRID, 0.4), run(TAIL))


def test_the_grid_has_the_points_of_the_file_and_the_placebo_is_no_other_one() -> None:
    found = grids([run(GRID).summary, run(TAIL).summary])
    assert {name: (grid.num_traces, len({one.load for one in grid.trials})) for name, grid in found.items()} == {
        "basic": (None, 30),
        "mutate": (None, 30),
        "batched": (None, 30),
        "tail-sampling": (50_000, 45),
    }
    assert len(found["basic"].trials) == 31
    assert all(len(grid.trials) > LEAST_HELD_BACK for grid in found.values())


def without(summary: Summary, **values: float) -> Summary:
    """A summary whose first trial lacks some values."""
    first, *others = summary.trials
    left = {name: value for name, value in first.values.items() if name not in values}
    return summary.model_copy(update={"trials": [first.model_copy(update={"values": left}), *others]})


def test_a_run_without_a_grid_is_named() -> None:
    with pytest.raises(UserError, match=f"trial 000 of {GRID} has no {SPAN_BYTES}"):
        grids([without(run(GRID).summary, span_bytes=0)])
    summary = run(GRID).summary
    level = summary.levels[summary.baseline]
    without_limit = level.model_copy(update={"settings": {**level.settings, "cpus": None}})
    levels = {**summary.levels, summary.baseline: without_limit}
    with pytest.raises(UserError, match="does not have one CPU"):
        grids([summary.model_copy(update={"levels": levels})])


def test_runs_of_two_machines_are_no_model() -> None:
    other = Run("other", {**run(TAIL).manifest, "machine": {**MACHINE, "cores": 8}}, run(TAIL).summary)
    with pytest.raises(UserError, match="different machines: their cores differs"):
        fitted([run(GRID), other])


def test_the_commands_fit_and_check(folders: list[str], tmp_path: Path) -> None:
    path = tmp_path / "capacity-model.json"
    said = lab("model", *folders, "-o", str(path))
    assert said.returncode == 0, said.stderr
    assert "wake-up per span" in said.stdout and "PASS" in said.stdout
    assert read_model(path).pipelines == fitted([run(GRID), run(TAIL)]).pipelines
    checked = lab("check", "model", *folders)
    assert (checked.returncode, checked.stdout.count("PASS")) == (0, 12)
    assert lab("check", "model", folders[0]).returncode == 1


def test_a_load_is_sized(file: str) -> None:
    larger = ("--spans-per-trace", "30", "--pipeline", "tail-sampling", "--decision-wait", "10s")
    sized = lab(*SIZE, *larger, "--model", file)
    assert sized.returncode == 0, sized.stderr
    found = size(read_model(Path(file)), Load(50_000, 800, 10, 30, 10), "tail-sampling")
    assert f"Collectors: {found.collectors}, each with one CPU" in sized.stdout
    assert f"each of {found.collectors} Collectors" in sized.stdout
    assert "extrapolated" not in sized.stdout and "decides early" not in sized.stdout


def test_more_traces_than_were_measured_are_extrapolated(file: str) -> None:
    """The rate of spans is on the grid, that of traces is not."""
    sized = lab(*SIZE, "--pipeline", "tail-sampling", "--decision-wait", "10s", "--model", file)
    assert "extrapolated: traces_per_s of a Collector is outside the grid (200 to 1250)" in sized.stdout
    assert sized.stdout.count("extrapolated") == 1


def test_without_a_model_of_this_machine_the_kept_one_is_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(model, "OWN", tmp_path / "none.json")
    assert read_model(model._newest()).pipelines


def test_a_model_with_other_terms_is_rejected(file: str, tmp_path: Path) -> None:
    """Such as one of before a second had a part, whose coefficients may be negative."""
    known, path = read_model(Path(file)), tmp_path / "earlier.json"
    basic = known.pipelines["basic"]
    terms = [term for term in basic.cpu_us_per_span.terms if term != "second per span"]
    cpu = basic.cpu_us_per_span.model_copy(update={"terms": terms})
    earlier = {"basic": basic.model_copy(update={"cpu_us_per_span": cpu})}
    write_model(path, known.model_copy(update={"pipelines": earlier}))
    assert "the model has other terms than span, span byte" in one_line(
        lab(*SIZE, "--pipeline", "basic", "--model", str(path))
    )


@pytest.mark.parametrize("spans", [1, 10, 50, 500])
@pytest.mark.parametrize(("span_bytes", "attributes"), [(70, 0), (360, 8), (2_000, 24)])
@pytest.mark.parametrize("pipeline", ["basic", "mutate", "batched", "tail-sampling"])
def test_by_the_kept_model_more_spans_need_more(
    pipeline: str, span_bytes: float, attributes: float, spans: float
) -> None:
    known = read_model(model.KEPT)
    wait_s = 10 if known.pipelines[pipeline].num_traces else 0
    rates = [10 ** (half / 2) for half in range(17)]
    sizes = [size(known, Load(rate, span_bytes, attributes, spans, wait_s), pipeline) for rate in rates]
    assert all(less.collectors <= more.collectors for less, more in pairwise(sizes))
    assert all(
        less.collectors * less.cores.value <= more.collectors * more.cores.value for less, more in pairwise(sizes)
    )
    # 100 times the rate, from one that a Collector has enough to do with.
    hundredfold = zip(rates, sizes, sizes[4:], strict=False)
    assert all(less.collectors < more.collectors for rate, less, more in hundredfold if rate >= 1e4)


def test_the_kept_model_has_no_negative_term_and_all_pipelines_are_tried() -> None:
    known = read_model(model.KEPT)
    assert set(known.pipelines) == {"basic", "mutate", "batched", "tail-sampling"}
    for pipeline in known.pipelines.values():
        assert min(*pipeline.cpu_us_per_span.coefficients, *pipeline.memory_mib.coefficients) >= 0


def test_the_kept_model_is_what_the_kept_runs_are_fitted_to() -> None:
    again = fitted([read_run(model.KEPT.parent), read_run(model.KEPT.parent.with_name(TAIL))])
    for name, kept in read_model(model.KEPT).pipelines.items():
        assert again.pipelines[name].cpu_us_per_span.coefficients == pytest.approx(kept.cpu_us_per_span.coefficients)
        assert again.pipelines[name].memory_mib.coefficients == pytest.approx(kept.memory_mib.coefficients)


def test_what_the_model_cannot_say_of_a_load_is_said(file: str) -> None:
    sized = lab(*SIZE, "--pipeline", "tail-sampling", "--decision-wait", "1m", "--model", file)
    assert "extrapolated: decision_wait_s of a Collector is outside" in sized.stdout
    assert "decides early" in sized.stdout


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (
            ("--pipeline", "tail-samplng", "--decision-wait", "10s"),
            "has no pipeline 'tail-samplng'; did you mean 'tail-sampling'?",
        ),
        (("--pipeline", "tail-sampling"), "pipeline 'tail-sampling' holds traces"),
        (("--pipeline", "basic", "--decision-wait", "10s"), "pipeline 'basic' passes traces on at once"),
        (("--pipeline", "tail-sampling", "--decision-wait", "10"), "'10' is no duration such as 10s"),
    ],
)
def test_a_mistake_is_reported_in_one_line(words: tuple[str, ...], error: str, file: str) -> None:
    assert error in one_line(lab(*SIZE, *words, "--model", file))


def test_too_small_a_grid_is_reported() -> None:
    few = Run("few", run(TAIL).manifest, run(TAIL).summary.model_copy(update={"trials": run(TAIL).summary.trials[:4]}))
    with pytest.raises(UserError, match="4 trials do not determine span, span byte"):
        fitted([few])
    with pytest.raises(UserError, match="at least 12 points are held back"):
        required_rows([few])


@pytest.mark.parametrize(("text", "s"), [("10s", 10), ("500ms", 0.5), ("1m30s", 90), ("1.5h", 5400)])
def test_durations_are_read_as_collectors_write_them(text: str, s: float) -> None:
    assert seconds(text) == pytest.approx(s)


@pytest.mark.parametrize("text", ["", "10", "s", "10 s", "10sec", "-1s"])
def test_other_durations_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="is no duration"):
        seconds(text)
