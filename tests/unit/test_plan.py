import io
import math
import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from lab.cli import LAB
from lab.command.overview import duration_s, print_plan
from lab.run.plan import (
    Plan,
    Trial,
    blocks_for_precision,
    estimate_duration_s,
    make_plan,
    trial_folder_name,
)
from lab.spec.experiment import Experiment
from lab.spec.parse import load_experiment

QUICK = Path(__file__).parents[1] / "golden" / "retired" / "quick.yaml"
STEADY = Path(__file__).parents[2] / "experiments" / "steady.yaml"
SIDE_BY_SIDE = Path(__file__).parents[2] / "experiments" / "side-by-side.yaml"
LEVELS = {"baseline", "otel-manual", "otel-agent", "placebo"}


def quick(repetitions: int = 20, seed: int = 1) -> Experiment:
    return load_experiment(QUICK, LAB.grammar, [f"repetitions={repetitions}", f"seed={seed}"])


def orders(plan: Plan) -> list[tuple[str, ...]]:
    blocks = sorted({trial.block for trial in plan.trials})
    return [tuple(trial.level for trial in plan.trials if trial.block == block) for block in blocks]


@pytest.mark.parametrize("seed", range(20))
def test_every_block_runs_every_level_and_the_placebo_once(seed: int) -> None:
    plan = make_plan(quick(seed=seed))
    assert len(orders(plan)) == 20
    assert all(set(order) == LEVELS and len(order) == len(LEVELS) for order in orders(plan))


def test_trials_are_numbered_from_one_block_after_block() -> None:
    trials = make_plan(quick()).trials
    assert [trial.number for trial in trials] == list(range(1, 81))
    assert [(trial.block, trial.position) for trial in trials] == [divmod(index, 4) for index in range(80)]


@pytest.mark.parametrize("seed", range(20))
def test_the_order_differs_between_blocks(seed: int) -> None:
    assert len(set(orders(make_plan(quick(seed=seed))))) > 8


def test_every_level_comes_at_every_position_about_as_often() -> None:
    first = [order[0] for order in orders(make_plan(quick(repetitions=1000)))]
    # Binomial with n = 1000 and p = 1/4: five standard deviations are 68.
    assert all(abs(first.count(level) - 250) < 68 for level in LEVELS)


@pytest.mark.parametrize("seed", range(20))
def test_side_by_side_every_level_has_each_place_once_in_as_many_blocks_as_levels(seed: int) -> None:
    found = orders(make_plan(load_experiment(SIDE_BY_SIDE, LAB.grammar, ["repetitions=20", f"seed={seed}"])))
    levels = set(found[0])
    assert len(levels) == 8
    assert all(set(order) == levels for order in found)
    for square in (found[:8], found[8:16]):
        assert all(set(column) == levels for column in zip(*square, strict=True))
    # The blocks after the last complete square have each level at most once at a place.
    assert all(len(set(column)) == 4 for column in zip(*found[16:], strict=True))


def test_side_by_side_no_order_is_drawn_more_often_than_others() -> None:
    experiment = load_experiment(SIDE_BY_SIDE, LAB.grammar, ["repetitions=3"])
    protocols = (experiment.protocol.model_copy(update={"seed": seed}) for seed in range(600))
    plans = [make_plan(experiment.model_copy(update={"protocol": protocol})) for protocol in protocols]
    for block in range(3):
        second = [orders(plan)[block][1] for plan in plans]
        # Binomial with n = 600 and p = 1/8: five standard deviations are 41.
        assert all(abs(second.count(level) - 75) < 41 for level in set(second))
        followed = [orders(plan)[block].index("placebo") - orders(plan)[block].index("baseline") for plan in plans]
        # One of 56 pairs of places in each of 7 cases: n = 600 and p = 1/8 again.
        assert abs(followed.count(1) - 75) < 41


def test_the_same_seed_makes_the_same_plan_and_another_another() -> None:
    assert make_plan(quick(seed=7)) == make_plan(quick(seed=7))
    assert orders(make_plan(quick(seed=7))) != orders(make_plan(quick(seed=8)))


def test_the_order_is_the_same_on_every_machine() -> None:
    assert orders(make_plan(quick(repetitions=2, seed=1))) == [
        ("otel-agent", "placebo", "otel-manual", "baseline"),
        ("placebo", "otel-agent", "baseline", "otel-manual"),
    ]


def test_more_repetitions_leave_the_first_blocks_as_they_are() -> None:
    assert make_plan(quick(repetitions=9)).trials[:12] == make_plan(quick(repetitions=3)).trials
    few, many = (load_experiment(SIDE_BY_SIDE, LAB.grammar, [f"repetitions={count}"]) for count in (3, 9))
    assert make_plan(many).trials[:24] == make_plan(few).trials


def test_levels_of_a_block_share_a_seed_and_blocks_do_not() -> None:
    seeds = {(trial.block, trial.seed) for trial in make_plan(quick()).trials}
    assert len(seeds) == len({seed for _, seed in seeds}) == 20
    assert all(0 <= seed < 2**32 for _, seed in seeds)


def test_folder_names() -> None:
    trial = Trial(number=3, block=0, position=2, level="otel-agent", seed=1)
    assert trial_folder_name(trial, 1) == "003-otel-agent"
    assert trial_folder_name(trial, 2) == "003-otel-agent-try2"
    joined = Trial(number=1234, block=0, position=0, level="slow/otel-agent", seed=1)
    assert trial_folder_name(joined, 1) == "1234-slow+otel-agent"


# By hand from a table of t: n, sd and the half width that t(n - 1) * sd / sqrt(n) makes.
@pytest.mark.parametrize(("blocks", "t"), [(2, 12.7062), (3, 4.3027), (5, 2.7764), (10, 2.2622), (30, 2.0452)])
def test_blocks_for_precision_agrees_with_a_table_of_t(blocks: int, t: float) -> None:
    sd = 0.02
    half_width = math.expm1(t * sd / math.sqrt(blocks))
    assert blocks_for_precision(sd, half_width * 1.001) == blocks
    assert blocks_for_precision(sd, half_width * 0.999) == blocks + 1


def test_without_spread_two_blocks_are_enough() -> None:
    assert blocks_for_precision(0, 0.01) == 2


def test_a_wider_confidence_needs_more_blocks() -> None:
    assert blocks_for_precision(0.05, 0.02, confidence=0.99) > blocks_for_precision(0.05, 0.02)


def test_the_blocks_found_reach_the_precision_in_made_up_studies() -> None:
    sd, half_width = 0.03, 0.02
    blocks = blocks_for_precision(sd, half_width)
    draws = np.random.default_rng(1).normal(math.log(1.4), sd, size=(4000, blocks))
    covered = np.abs(draws.mean(axis=1) - math.log(1.4)) <= math.log1p(half_width)
    assert covered.mean() > 0.95


def test_the_duration_counts_every_trial() -> None:
    experiment = quick(repetitions=3)
    start_s = {"baseline": 10.0, "placebo": 10.0, "otel-manual": 15.0, "otel-agent": 25.0}
    load_s = experiment.protocol.expected_warm_up_s + experiment.expected_window_s()
    found_s = estimate_duration_s(make_plan(experiment), experiment, start_s)
    assert found_s == pytest.approx(3 * (60 + 4 * load_s))


def test_side_by_side_a_blocks_window_counts_once_and_few_users_warm_up_slowly() -> None:
    experiment = load_experiment(SIDE_BY_SIDE, LAB.grammar, ["repetitions=2", "window_s=300"])
    plan = make_plan(experiment)
    found_s = estimate_duration_s(plan, experiment, {level.name: 18.0 for level in plan.levels})
    assert found_s == pytest.approx(2 * (8 * 18 + 8 * 30 + 300))


def test_six_sets_that_wait_until_they_have_settled_take_two_hours() -> None:
    experiment = load_experiment(STEADY, LAB.grammar, [])
    plan = make_plan(experiment)
    found_s = estimate_duration_s(plan, experiment, {level.name: 8.0 for level in plan.levels})
    assert found_s == pytest.approx(6 * (5 * (8 + 200) + 60 * 3))


def test_where_nothing_was_run_the_kept_run_says_how_ratios_vary(tmp_path: Path) -> None:
    said = io.StringIO()
    print_plan(Console(file=said, width=200), load_experiment(STEADY, LAB.grammar), LAB, 0.02, tmp_path)
    assert "(from the kept run: ratios vary by " in said.getvalue()


@pytest.mark.parametrize("half_width", [0.02, 0.5])
@pytest.mark.parametrize("name", ["quick", "steady", "telemetry-overhead", "proxy-tracing"])
def test_the_advised_fields_leave_time_for_all_blocks(name: str, half_width: float, tmp_path: Path) -> None:
    file, said = STEADY.with_stem(name), io.StringIO()
    print_plan(Console(file=said, width=200), load_experiment(file, LAB.grammar), LAB, half_width, tmp_path)
    (fields,) = re.findall(r": --set (repetitions=.*)$", said.getvalue(), re.MULTILINE)
    advised = load_experiment(file, LAB.grammar, fields.split(" --set "))
    takes_s = duration_s(advised, make_plan(advised), LAB.target(advised).declaration, tmp_path)
    assert takes_s < 60 * (advised.protocol.budget_min or math.inf)
