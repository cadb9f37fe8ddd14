"""A target unlike the mesh passes plan, run, analysis, claims and report: nothing in between is made for the mesh."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from lab.analysis.analyse import analyse, summarise
from lab.analysis.claims.judge import judge
from lab.analysis.claims.spec import load_claims
from lab.analysis.lab import Lab
from lab.analysis.metrics import measures
from lab.command.keep import keep
from lab.command.overview import print_plan
from lab.command.prepare import context, needs, prepare
from lab.load import LOADS
from lab.record.data import read_trial
from lab.record.results import Censoring
from lab.record.summary import Estimate, Summary, TrialSummary
from lab.report.build import build
from lab.report.terminal import print_metric_of, print_results
from lab.run import runner
from lab.run.progress import Progress
from lab.spec.experiment import Experiment
from lab.spec.parse import parse_experiment
from lab.spec.problems import SpecError
from tests.fake_target import CAPACITY, CPU, MACHINES, Fake

LAB = Lab({"fake": Fake()}, LOADS)
SPEC = """
format: tollbooth.experiment
version: 2
title: Which queue carries more?
question: What did the other program find?
target: {kind: fake}
load: {generator: none}
factors:
  queue:
    old: {capacity_per_s: 100}
    new: {capacity_per_s: 300, searched_up_to: 120}
    same: {capacity_per_s: 100}
    broken: {broken: true}
baseline: old
protocol: {repetitions: 4, retries: 1, seed: 3}
"""
CLAIMS = f"""
format: tollbooth.claims
version: 1
source: a paper about queues
claims:
  Same:
    says: the same
    tests: [{{kind: same, metrics: [{CAPACITY}], levels: [old, same], margin: 0.1, because: its noise}}]
  More:
    says: more
    tests: [{{kind: order, metrics: [{CAPACITY}], lower: [old], higher: [new]}}]
figures:
  - {{metric: {CAPACITY}, level: same, published: 100}}
  - {{metric: {CAPACITY}, level: new, published: 300}}
"""


@dataclass(frozen=True)
class Ran:
    """A run and what became of it."""

    folder: Path
    summary: Summary
    said: str


def experiment(text: str = SPEC) -> Experiment:
    return parse_experiment(text, "queues", LAB.grammar)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return measured(experiment(), tmp_path_factory.mktemp("results"))


def measured(of: Experiment, results: Path) -> Ran:
    """Run an experiment as the command line does, and analyse it."""
    said = io.StringIO()
    on = context(LAB, of)
    run = runner.new_run(on, results, ["lab", "run", "queues"], prepare(on, Progress(Console(file=said))))
    runner.complete(on, run, Progress(Console(file=said, width=200)))
    return Ran(run.folder, analyse(run.folder, *LAB.recorded(run.folder)), said.getvalue())


def row(summary: Summary, level: str, metric: str = CAPACITY) -> Estimate:
    return next(one for one in summary.estimates if (one.metric, one.level) == (metric, level))


def test_plan(tmp_path: Path) -> None:
    said = io.StringIO()
    print_plan(Console(file=said, width=200), experiment(), LAB, 0.02, tmp_path)
    assert "20 trials" in said.getvalue()


def test_it_needs_no_image_and_no_instrument() -> None:
    assert needs(context(LAB, experiment())).images == ()


def test_its_models_find_mistakes() -> None:
    with pytest.raises(SpecError, match="capacity_per_s"):
        experiment(SPEC.replace("capacity_per_s: 300", "capacity_pers: 300"))


def test_run(ran: Ran) -> None:
    assert (ran.folder.parent / "latest").resolve() == ran.folder.resolve()
    manifest = json.loads((ran.folder / "manifest.json").read_text())
    assert manifest["benchmark"] == {"machines": list(MACHINES)}
    assert manifest["versions"] == {"benchmark": "1.0"}
    assert manifest["finished"]
    trial = read_trial(next(ran.folder.glob("trials/*-new")))
    assert trial.trial.valid
    assert trial.trial.window is None
    assert set(trial.counters_by_machine()) == set(MACHINES)
    assert trial.results.censored == {CAPACITY: "at least"}


def test_a_trial_without_a_result_is_rejected(ran: Ran) -> None:
    broken = [trial for trial in ran.summary.trials if trial.level == "broken"]
    assert len(broken) == 8
    assert all(trial.reasons[0] == "the trial has no results" for trial in broken)
    assert "no counters of east, west" in ran.said


def test_estimates(ran: Ran) -> None:
    same, cpu = row(ran.summary, "same"), row(ran.summary, "same", CPU)
    assert same.censored is None
    assert same.mean_low is not None
    assert same.finding == "same within margin"
    assert cpu.mean == pytest.approx(3000)


def test_a_bound_has_no_interval_and_shows_what_follows_from_it(ran: Ran) -> None:
    new = row(ran.summary, "new")
    assert (new.mean, new.censored, new.mean_low, new.mean_high) == (120, "at least", None, None)
    assert new.ratio == pytest.approx(1.2, rel=0.02)
    assert (new.ratio_low, new.ratio_high, new.comparison_censored) == (None, None, "at least")
    assert new.finding == "higher"


def test_paired_metrics_are_not_computed_from_bounds(ran: Ran) -> None:
    assert {one.level for one in ran.summary.estimates if one.metric == "gained_per_s"} == {"same"}


@pytest.mark.parametrize(
    ("old", "new", "bound", "finding"),
    [
        # The baseline is a bound: the level is at most so many times as large.
        ({"capacity_per_s": 100, "searched_up_to": 90}, {"capacity_per_s": 50}, "at most", "lower"),
        ({"capacity_per_s": 100, "searched_up_to": 90}, {"capacity_per_s": 200}, "at most", "inconclusive"),
        # The level may be far above the baseline, or not.
        ({"capacity_per_s": 100}, {"capacity_per_s": 100, "searched_up_to": 80}, "at least", "inconclusive"),
        # Nothing follows from two lower bounds.
        ({"capacity_per_s": 100, "searched_up_to": 90}, {"capacity_per_s": 300, "searched_up_to": 200}, None, None),
    ],
)
def test_a_finding_follows_from_the_bounds(
    tmp_path: Path, old: object, new: object, bound: str | None, finding: str | None
) -> None:
    text = SPEC.replace("broken: {broken: true}", "")
    text = text.replace("old: {capacity_per_s: 100}", f"old: {json.dumps(old)}")
    text = text.replace("new: {capacity_per_s: 300, searched_up_to: 120}", f"new: {json.dumps(new)}")
    found = row(measured(experiment(text), tmp_path).summary, "new")
    assert found.comparison_censored == bound
    assert found.finding == (finding or "inconclusive")
    assert (found.ratio is None) == (bound is None)
    assert (found.ratio_low, found.difference_low, found.log_ratio_sd) == (None, None, None)


def test_bounds_on_both_sides_bound_nothing() -> None:
    both: Sequence[Censoring] = ("at least", "at most")
    trials = [
        TrialSummary(
            trial=f"{block}-{level}",
            level=level,
            block=block,
            valid=True,
            reasons=[],
            values={CAPACITY: 100.0},
            censored={CAPACITY: bound} if level == "new" else {},
        )
        for level in ("old", "new")
        for block, bound in enumerate(both)
    ]
    found = summarise(experiment(), LAB.targets["fake"], trials)
    assert [one.level for one in found.estimates if one.metric == CAPACITY] == ["old"]


def test_claims(ran: Ran, tmp_path: Path) -> None:
    """What was published is tested on exact values only."""
    (tmp_path / "queues.yaml").write_text(CLAIMS)
    studies = load_claims(["queues"], tmp_path, measures(LAB.targets["fake"].judgement))
    verdicts = judge(ran.summary, studies, seed=3)
    found = {one.id: one for one in verdicts.claims}
    assert found["Same"].verdict == "holds here"
    assert found["More"].verdict == "inconclusive"
    assert found["More"].parts[0].reason == "a value is only a bound"
    assert [one.level for one in verdicts.figures] == ["same"]


def test_terminal(ran: Ran) -> None:
    said = io.StringIO()
    console = Console(file=said, width=120)
    print_results(ran.folder, console)
    print_metric_of(ran.folder, CAPACITY, console)
    assert "≥ 120" in said.getvalue()
    assert "≥ 1.2" in said.getvalue()
    assert "CPU of" not in said.getvalue()


def test_report(ran: Ran) -> None:
    text = build(ran.folder).read_text()
    assert "≥ 120" in text
    assert "≥ +20" in text
    assert "Capacity" in text


def test_kept(ran: Ran, tmp_path: Path) -> None:
    """A small copy keeps the results, and can be shown like the run."""
    keep(ran.folder, tmp_path / "kept", LAB)
    assert read_trial(next((tmp_path / "kept").glob("trials/*-new"))).results.values[CAPACITY] == 120
    assert "≥ 120" in build(tmp_path / "kept").read_text()
