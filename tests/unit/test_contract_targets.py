"""Every registered target, and the fake, pass one suite: what the rest of the lab relies on, without containers."""

import json
from pathlib import Path
from typing import Any

import pytest

from lab.analysis.checks import reasons
from lab.analysis.lab import Lab
from lab.analysis.metrics import measures, values
from lab.cli import LAB
from lab.command.paths import JOURNAL, ROOT
from lab.contract import Declaration, Deployment, Target
from lab.engine.absent import AbsentDriver
from lab.engine.clock import SystemClock
from lab.engine.image_recipes import TABLE
from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.load import LOADS
from lab.record.data import TrialData
from lab.record.trial import HeadPart, TrialRecord, Window, WindowPart
from lab.spec.experiment import Experiment
from lab.spec.parse import load_experiment, parse_experiment
from tests.fake_target import Fake
from tests.unit.test_fake_target import SPEC

ALL = Lab({**LAB.targets, "fake": Fake()}, LOADS)
EXPERIMENTS: list[Experiment] = [
    *(load_experiment(path, ALL.grammar) for path in sorted((ROOT / "experiments").glob("*.yaml"))),
    parse_experiment(SPEC, "fake", ALL.grammar),
]

each_target = pytest.mark.parametrize("target", ALL.targets.values(), ids=ALL.targets)
each_experiment = pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)


def place() -> Place:
    return Place(ROOT, CpuSplit((0,), (0,)), AbsentDriver(), SystemClock(), JOURNAL)


@pytest.mark.parametrize("kind", ALL.targets)
def test_a_shipped_experiment_uses_it(kind: str) -> None:
    assert ALL.targets[kind].declaration.kind == kind
    assert kind in {experiment.target.kind for experiment in EXPERIMENTS}


@each_target
def test_its_models_are_described_for_the_schema(target: Target[Any]) -> None:
    declaration = target.declaration
    for model in (declaration.settings, declaration.level):
        assert model.__doc__
        fields = model.model_json_schema()["properties"]
        assert all("description" in field or "const" in field for field in fields.values()), fields


@each_target
def test_its_levels_have_a_default_for_every_field(target: Target[Any]) -> None:
    level = target.declaration.level
    recorded = level().model_dump(mode="json")
    assert level.model_validate(recorded, strict=False).model_dump(mode="json") == recorded


@each_target
def test_its_headline_is_of_its_own_metrics(target: Target[Any]) -> None:
    known = measures(target.judgement)
    for metrics in (frozenset[str](), frozenset(known)):
        headline = target.declaration.headline(metrics)
        names = {headline.primary, *headline.main, *(column.metric for column in headline.columns)}
        assert names <= known.keys()
        assert headline.what


@each_target
def test_its_metrics_are_described(target: Target[Any]) -> None:
    known = measures(target.judgement)
    assert all(metric.name == name and metric.title for name, metric in known.items())
    assert all(set(metric.share_of or ()) <= known.keys() for metric in known.values())


@each_target
@pytest.mark.parametrize("window", [None, Window(load_start_ns=0, start_ns=10**9, end_ns=2 * 10**9)])
def test_a_trial_that_left_nothing_is_rejected(target: Target[Any], window: Window | None) -> None:
    """Its checks say why, and its metrics have no value; neither fails."""
    head = HeadPart(number=1, attempt=1, block=0, position=0, level="x", settings={})
    data = TrialData(TrialRecord.of(head, WindowPart(window=window)), {})
    assert all(reason.strip() == reason != "" for reason in reasons(data, target.judgement.checks))
    assert reasons(data, target.judgement.checks)
    assert all(isinstance(value, float) for value in values(data, target.judgement.metrics).values())


@each_experiment
def test_the_experiment_is_right_by_its_declaration(experiment: Experiment) -> None:
    assert list(ALL.target(experiment).declaration.problems(experiment)) == []


@each_experiment
def test_what_the_experiment_needs_can_be_built_and_started(experiment: Experiment) -> None:
    declaration = ALL.target(experiment).declaration
    needs = declaration.needs(experiment)
    assert set(needs.images) <= TABLE.keys()
    assert bool(needs.images) == declaration.containers
    assert needs == declaration.needs(experiment)


@each_experiment
def test_the_manifest_says_what_the_target_is(experiment: Experiment) -> None:
    declaration = ALL.target(experiment).declaration
    said = json.dumps(declaration.manifest(experiment), sort_keys=True)
    assert said == json.dumps(declaration.manifest(experiment), sort_keys=True)
    assert declaration.manifest(experiment).keys().isdisjoint({"format", "version", "experiment", "spec", "order"})


@each_experiment
def test_its_levels_survive_their_record(experiment: Experiment) -> None:
    target = ALL.target(experiment)
    for level in (*experiment.levels(), experiment.placebo_level()):
        recorded = json.loads(json.dumps(level.recorded()))
        assert target.declaration.level.model_validate(recorded, strict=False).model_dump(mode="json") == recorded
        assert recorded.keys() == target.declaration.level.model_fields.keys()
        assert target.declaration.start_group(level)


@each_experiment
def test_a_deployment_is_only_described_until_it_is_deployed(experiment: Experiment, tmp_path: Path) -> None:
    target, level, out = ALL.target(experiment), experiment.baseline_level(), tmp_path / "out"
    deployment = target.deployment(level, place(), out)
    endpoint = deployment.endpoint()
    assert not out.exists()
    assert (endpoint is None) == (experiment.load.protocol is None)
    assert endpoint is None or (endpoint.protocol == experiment.load.protocol and endpoint.host and endpoint.port)
    assert json.dumps(deployment.request(level))
    assert not set(deployment.roles().values()) & {"observer", "spinner", "generator"}


@each_experiment
def test_a_profiled_level_is_the_same_level(experiment: Experiment) -> None:
    target, level = ALL.target(experiment), experiment.baseline_level()
    profiled = target.profiled(level, "-agentpath:/x")
    if profiled is not None:
        assert profiled.name == level.name
        assert "-agentpath:/x" in json.dumps(profiled.recorded())


class Least(Declaration, Deployment, Target[Any]):
    """What a target has that defines nothing."""


def test_what_a_target_leaves_out_adds_nothing(tmp_path: Path) -> None:
    least, experiment = Least(), EXPERIMENTS[0]
    level = experiment.baseline_level()
    assert least.containers
    assert (least.files, least.manifest(experiment), least.request(level), least.versions(tmp_path)) == ({}, {}, {}, {})
    assert least.profiled(level, "-agentpath:/x") is None
    least.prepare(experiment, {})
    least.settled(level)
    with least.measuring(level, seed=1, lead_s=0.0) as measuring:
        assert list(measuring.parts()) == []
