"""`--levels`: an experiment with some of its levels."""

from pathlib import Path

import pytest

from lab.cli import LAB
from lab.spec.experiment import Experiment
from lab.spec.parse import load_experiment, parse_experiment
from lab.spec.problems import SpecError
from tests.repository import ROOT

SPEC = """\
format: tollbooth.experiment
version: 2
title: A title
question: A question?
target: {kind: mesh, topology: mesh}
load: {generator: locust, schedule: {kind: closed-loop, users: 8, think_time_s: [1.0, 1.1]}}
factors:
  telemetry:
    baseline: {}
    manual: {telemetry: otel-manual}
    agent: {telemetry: otel-agent}
  errors:
    none: {}
    few: {users_fraction: 0.5}
    many: {users_fraction: 1}
baseline: baseline/none
protocol: {warm_up_s: 10, window_s: 15, repetitions: 3}
headline:
  compare:
    - {level: agent/none, to: manual/none}
    - {level: agent/none, to: baseline/none}
views:
  - {kind: waterfall, title: All, levels: [baseline/none, manual/none, agent/none]}
  - {kind: frontier, title: The agent, levels: [baseline/none, agent/none, placebo]}
  - {kind: interaction, title: Both, factors: [telemetry, errors]}
"""


def only(levels: str) -> Experiment:
    return parse_experiment(SPEC, "test", LAB.grammar, (), levels)


def names(levels: str) -> list[str]:
    return [level.name for level in only(levels).levels()]


def test_the_baseline_stays_and_another_factor_keeps_all() -> None:
    wanted = ["baseline/none", "baseline/few", "baseline/many", "agent/none", "agent/few", "agent/many"]
    assert names("agent") == names("agent, baseline") == wanted
    assert names("few") == ["baseline/none", "baseline/few", "manual/none", "manual/few", "agent/none", "agent/few"]
    assert names("agent,many") == ["baseline/none", "baseline/many", "agent/none", "agent/many"]
    assert names("baseline,none") == ["baseline/none"]


def test_all_levels_stay_without_a_name() -> None:
    assert only("") == only("baseline,manual,agent,none,few,many") == parse_experiment(SPEC, "test", LAB.grammar)


def test_what_compares_or_draws_a_level_that_is_gone_is_left_out() -> None:
    left = only("agent")
    assert left.headline is not None
    assert [contrast.to for contrast in left.headline.compare] == ["baseline/none"]
    assert [view.title for view in left.views] == ["The agent", "Both"]
    assert [view.title for view in only("agent,none").views] == ["The agent"]
    assert only("manual,few").views[0].title == "Both"


@pytest.mark.parametrize("levels", ["agnt", "manual,agnt", "agent/none", "agent,", ","])
def test_a_level_that_no_factor_has_is_an_error(levels: str) -> None:
    with pytest.raises(SpecError) as wrong:
        only(levels)
    assert "no level is called" in wrong.value.problems[0].text


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_experiment_can_be_run_with_its_last_levels_only(path: Path) -> None:
    every = load_experiment(path, LAB.grammar)
    last = ",".join([*levels][-1] for levels in every.factors.values())
    some = load_experiment(path, LAB.grammar, (), last)
    assert {"/".join(last.split(",")), every.baseline} <= {level.name for level in some.levels()}
    assert len(some.levels()) <= 2 ** len(every.factors)
