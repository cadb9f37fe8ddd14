"""Side by side, what a place in the order of starts adds is separated from what a level costs, and taken out."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from lab.analysis.analyse import summarise
from lab.analysis.metrics.alternating import IDLE
from lab.analysis.metrics.memory import PAGE_CACHE, RSS, WORKING_SET
from lab.analysis.metrics.speed import RAN_BESIDE, adjusted, as_measured_name, with_adjusted_values
from lab.analysis.stats.places import Row, without_places
from lab.record.summary import PlaceAdjustment, TrialSummary
from lab.report.findings import cautions, remarks
from lab.run.plan import make_plan
from tests.labs import MESH
from tests.labs import parse as parse_experiment
from tests.unit.test_adjusted import log_ratios

CPU = "cpu_per_request_services_ms"
MEMORY = (RSS, PAGE_CACHE, WORKING_SET)
ADJUSTED = adjusted(MESH.judgement.metrics)
TRUTH = {"baseline": 96.0, "placebo": 96.0, "manual": 110.0, "metrics": 120.0, "agent": 130.0, "other": 140.0}
# As on the machine where this was built: the first costs most, by far, and the others fall nearly in a line.
ADDED = np.array([0.02, 0.003, 0.0, -0.004, -0.009, -0.01])
# What two numbers can describe: the first place, and a line.
IN_A_LINE = np.array([0.02, 0.003, 0.0, -0.003, -0.006, -0.009])
SPEC = """
format: tollbooth.experiment
version: 2
title: Test
question: Does it say so?
target: {kind: mesh, topology: mesh}
load: {generator: locust, schedule: {kind: closed-loop, users: 12, think_time_s: [1.0, 1.1]}}
factors: {telemetry: {LEVELS}}
baseline: baseline
protocol: {warm_up_requests: 20, window_s: 15, repetitions: BLOCKS, retries: 0, side_by_side: true}
"""


def orders(blocks: int, seed: int) -> list[list[str]]:
    """As the lab would have them."""
    levels = ", ".join(f"{level}: {{telemetry: baseline}}" for level in TRUTH if level != "placebo")
    spec = SPEC.replace("LEVELS", levels).replace("BLOCKS", str(blocks)).replace("side_by_side: true",
        f"side_by_side: true, seed: {seed}")  # fmt: skip
    plan = make_plan(parse_experiment(spec, "test"))
    return [[trial.level for trial in plan.trials if trial.block == block] for block in range(blocks)]


def study(
    rng: np.random.Generator, planned: Sequence[Sequence[str]], added: np.ndarray = ADDED, noise: float = 0.01
) -> list[TrialSummary]:
    """Trials of six levels which are started one after the other, in a planned order, on a machine that changes."""
    trials = []
    for block, order in enumerate(planned):
        speed = rng.normal(0, 0.05)
        for place, level in enumerate(order):
            cost = np.log(TRUTH[level]) + speed + added[place] + rng.normal(0, noise)
            values = {RAN_BESIDE: 450.0 - 30 * place, CPU: float(np.exp(cost))}
            trials.append(
                TrialSummary(trial=f"{block}", level=level, block=block, position=place, valid=True, reasons=[],
                             values=values)
            )  # fmt: skip
    return trials


def rows(trials: Sequence[TrialSummary]) -> list[Row]:
    return [Row(one.level, one.block, one.position or 0, float(np.log(one.values[CPU]))) for one in trials]


def test_without_noise_exactly_the_places_part_is_taken_out() -> None:
    found = without_places(rows(study(np.random.default_rng(1), orders(6, 1), IN_A_LINE, noise=0.0)))
    assert found is not None
    assert found.effects == pytest.approx(IN_A_LINE - IN_A_LINE.mean(), abs=1e-9)
    assert found.explained == pytest.approx(1)
    assert found.p_value == pytest.approx(0)
    plain = study(np.random.default_rng(1), orders(6, 1), np.full(6, IN_A_LINE.mean()), noise=0.0)
    assert found.left == pytest.approx([row.measure for row in rows(plain)], abs=1e-9)


def test_a_place_is_distinguished_from_a_level_where_a_trial_is_missing_too() -> None:
    trials = study(np.random.default_rng(2), orders(6, 2), IN_A_LINE, noise=0.0)
    found = without_places(rows(trials[:7] + trials[8:]))
    assert found is not None
    assert found.effects == pytest.approx(IN_A_LINE - IN_A_LINE.mean(), abs=1e-9)


def test_where_places_add_nothing_the_share_by_chance_and_the_f_test_are_right() -> None:
    rng, planned = np.random.default_rng(10), orders(6, 10)
    found = [without_places(rows(study(rng, planned, np.zeros(6)))) for _ in range(1_000)]
    explained, p_values = (np.array([getattr(one, name) for one in found]) for name in ("explained", "p_value"))
    # 36 trials less 6 levels and 5 further blocks are 25 free values, of which 2 go to places.
    assert found[0] is not None
    assert found[0].by_chance == pytest.approx(2 / 25)
    assert explained.mean() == pytest.approx(2 / 25, abs=0.008)
    assert np.mean(p_values < 0.05) == pytest.approx(0.05, abs=0.021)
    assert np.mean(p_values < 0.5) == pytest.approx(0.5, abs=0.05)


def test_of_what_is_only_rounding_places_explain_nothing() -> None:
    rng = np.random.default_rng(12)
    found = [without_places(rows(study(rng, orders(3, seed), np.zeros(6), noise=0.0))) for seed in range(1, 31)]
    assert {(one.explained, one.p_value) for one in found if one} == {(0, 1)}


def test_places_never_explain_less_than_nothing() -> None:
    """Page cache of a run, of which all systems but one had the same: rounding made the rest more than the whole."""
    orders = ["agent placebo base manual", "placebo base manual agent", "base manual agent placebo"]
    more = {(0, "manual"), (2, "manual")}
    found = without_places(
        [
            Row(level, block, place, float(np.log(0.109375 if (block, level) in more else 0.10546875)))
            for block, order in enumerate(orders)
            for place, level in enumerate(order.split())
        ]
    )
    assert found is not None
    assert 0 <= found.explained <= 1
    assert 0 <= found.p_value <= 1


def test_the_p_value_is_that_of_the_f_test() -> None:
    found = without_places(rows(study(np.random.default_rng(11), orders(4, 11))))
    assert found is not None
    # 24 trials less 6 levels, 3 further blocks and 2 numbers of places leave 13.
    statistic = found.explained / (1 - found.explained) * 13 / 2
    assert found.p_value == pytest.approx(stats.f.sf(statistic, 2, 13))


@pytest.mark.parametrize("blocks", [1, 2])
def test_too_few_blocks_show_nothing_of_places(blocks: int) -> None:
    trials = study(np.random.default_rng(3), orders(blocks, 3))
    assert without_places(rows(trials)) is None
    assert with_adjusted_values(trials, [], ADJUSTED) == (trials, {})


def test_always_the_same_order_shows_nothing_of_places() -> None:
    assert without_places(rows(study(np.random.default_rng(4), [list(TRUTH)] * 8))) is None


def test_what_a_place_adds_is_taken_out_and_the_levels_stay() -> None:
    trials = study(np.random.default_rng(5), orders(36, 5))
    changed, how = with_adjusted_values(trials, [], ADJUSTED)
    assert set(how) == {CPU}
    assert isinstance(how[CPU], PlaceAdjustment)
    raw, better = (log_ratios(changed, name, "agent") for name in (as_measured_name(CPU), CPU))
    assert better.std() < raw.std()
    # Six whole squares: places are the same for all levels, so that means are as measured.
    assert better.mean() == pytest.approx(raw.mean(), abs=1e-9)
    assert better.mean() == pytest.approx(np.log(130 / 96), abs=0.01)


@pytest.mark.parametrize("way", [RAN_BESIDE, IDLE], ids=["side by side", "alternating"])
def test_times_and_memory_have_their_place_taken_out_where_systems_run_at_once(way: str) -> None:
    trials = [
        one.model_copy(update={"values": {way: 1.0, CPU: one.values[CPU], **dict.fromkeys(MEMORY, one.values[CPU])}})
        for one in study(np.random.default_rng(10), orders(6, 10))
    ]
    changed, how = with_adjusted_values(trials, [], ADJUSTED)
    assert set(how) == {*MEMORY, CPU}
    for name in how:
        raw, better = (log_ratios(changed, one, "agent") for one in (as_measured_name(name), name))
        assert better.std() < raw.std()


def test_alone_memory_is_left_as_it_is() -> None:
    trials = [
        one.model_copy(update={"values": dict.fromkeys(MEMORY, one.values[CPU])})
        for one in study(np.random.default_rng(11), orders(6, 11))
    ]
    assert with_adjusted_values(trials, [], ADJUSTED) == (trials, {})


def test_a_trial_of_which_no_place_is_known_is_left_as_it_is() -> None:
    old = [one.model_copy(update={"position": None}) for one in study(np.random.default_rng(6), orders(6, 6))]
    assert with_adjusted_values(old, [], ADJUSTED) == (old, {})


@pytest.mark.parametrize("added", [ADDED, np.zeros(6)], ids=["with", "without"])
@pytest.mark.parametrize(("blocks", "quantile"), [(3, 4.303), (4, 3.182), (6, 2.571), (8, 2.365)])
def test_intervals_cover_the_truth_as_often_as_they_say(added: np.ndarray, blocks: int, quantile: float) -> None:
    """Whether places add something or nothing: 400 studies of five levels, classical t intervals."""
    rng, covered = np.random.default_rng(7), []
    draw = random.Random(8)
    planned = [orders(blocks, draw.randrange(10**6)) for _ in range(40)]
    for index in range(400):
        changed, _ = with_adjusted_values(study(rng, planned[index % 40], added), [], ADJUSTED)
        for level, truth in TRUTH.items():
            if level != "baseline":
                ratios = log_ratios(changed, CPU, level)
                half = quantile * ratios.std(ddof=1) / np.sqrt(blocks)
                covered.append(abs(ratios.mean() - np.log(truth / TRUTH["baseline"])) <= half)
    assert 0.93 <= np.mean(covered) <= 0.97


def test_the_report_says_so() -> None:
    levels = ", ".join(f"{level}: {{telemetry: baseline}}" for level in TRUTH if level != "placebo")
    spec = parse_experiment(SPEC.replace("LEVELS", levels).replace("BLOCKS", "18"), "test")
    summary = summarise(spec, MESH, study(np.random.default_rng(9), orders(18, 9)))
    sentence = remarks(summary)[1]
    assert sentence.startswith("Times are adjusted to equal places in the order of starts.")
    found = summary.adjustments[CPU]
    assert isinstance(found, PlaceAdjustment)
    assert found.by_chance == pytest.approx(2 / (108 - 6 - 17))
    assert "of the variance that levels and blocks leave. Chance alone explains 2.4 % (F test: p < 0.001)." in sentence


def test_a_kept_summary_does_not_say_what_is_chance() -> None:
    kept = PlaceAdjustment(ratios=[1.02, 1.0, 0.98], explained=0.4)
    levels = ", ".join(f"{level}: {{telemetry: baseline}}" for level in TRUTH if level != "placebo")
    spec = parse_experiment(SPEC.replace("LEVELS", levels).replace("BLOCKS", "6"), "test")
    summary = summarise(spec, MESH, study(np.random.default_rng(9), orders(6, 9)))
    sentence = remarks(summary.model_copy(update={"adjustments": {CPU: kept}}))[1]
    assert "of the variance that levels and blocks leave. The other measures" in sentence
    assert not [caution for caution in cautions(summary) if "the adjustment removed" in caution]
