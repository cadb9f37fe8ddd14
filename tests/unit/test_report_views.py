"""The experiment's views: ladders, sweeps and crossed factors of values whose truth is known."""

import io
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from rich.console import Console

from lab.analysis.views import Climb, Crossing
from lab.errors import UserError
from lab.record.summary import Column, Headline, Summary
from lab.report import drawings as drawn
from lab.report.compared import Compared, compare_views, crossing_table, ladder_tables, step_scales
from lab.report.figures.curves import setting
from lab.report.numbers import MINUS
from lab.report.palette import level_colours
from lab.report.terminal import print_tables

CPU = "cpu_per_request_services_ms"
MEMORY = "memory_services_mean_mib"
APP, TELEMETRY = "bytes_per_request_app", "bytes_per_request_telemetry"
# What a block does to all its levels; and, far smaller, what it does to each.
BLOCKS = (-1.0, 0.0, 1.0)
WOBBLE = (0.01, -0.02, 0.01)
Values = Mapping[str, Mapping[str, float]]


def summary(values: Values, baseline: str = "baseline", estimates: Any = ()) -> Summary:
    """Make a run of three blocks, each of which shifts all levels alike; one trial per level and block."""
    trials = [
        {
            "trial": f"{block}-{level}",
            "level": level,
            "block": block,
            "valid": True,
            "reasons": [],
            "values": {
                metric: value + BLOCKS[block] + WOBBLE[(block + index) % 3] for metric, value in metrics.items()
            },
        }
        for index, (level, metrics) in enumerate(values.items())
        for block in range(3)
    ]
    units = {
        CPU: ("CPU per request, services", "ms"),
        MEMORY: ("Memory", "MiB"),
        APP: ("App", "B"),
        TELEMETRY: ("Export", "B"),
    }
    return Summary.model_validate(
        {
            "experiment": "x", "title": "x", "baseline": baseline, "placebo": "placebo", "confidence": 0.95,
            "compared_with": (baseline,), "headline": Headline(primary=CPU, what="CPU"),
            "equivalence_margin": 0.05, "estimates": estimates, "trials": trials,
            "metrics": {
                name: {"title": title, "unit": unit, "better": "lower"} for name, (title, unit) in units.items()
            },
            "levels": {level: {"settings": {}, "trials": 3, "rejected": 0} for level in values},
        }
    )  # fmt: skip


RUNGS = {
    "baseline": {CPU: 40.0, APP: 32_000.0, TELEMETRY: 0.0},
    "placebo": {CPU: 40.1, APP: 32_000.0, TELEMETRY: 0.0},
    "off": {CPU: 40.05, APP: 32_000.0, TELEMETRY: 0.0},
    "made": {CPU: 45.0, APP: 36_000.0, TELEMETRY: 0.0},
    "sent": {CPU: 44.0, APP: 36_000.0, TELEMETRY: 9_000.0},
}
LADDER = {"kind": "waterfall", "title": "By hand", "levels": ["baseline", "off", "made", "sent"]}


def compared(run: Summary, *views: dict[str, Any], **spec: Any) -> Compared:
    return compare_views(run, {"seed": 1, "spec": {"views": list(views), **spec}})


def climb(run: Summary) -> Climb:
    return compared(run, LADDER).ladders[0].climbs[0]


def test_steps_are_paired_within_blocks_and_add_up() -> None:
    found = climb(summary(RUNGS))
    assert [step.level for step in found.steps] == ["off", "made", "sent"]
    added = [step.added.mean for step in found.steps if step.added]
    assert added == pytest.approx([0.05, 4.95, -1.0])
    assert found.total.added is not None
    assert found.total.added.mean == pytest.approx(sum(added))
    # The blocks differ by 1 ms, which has to cancel: what is left is a few hundredths.
    assert all(step.added.high - step.added.low < 0.3 for step in found.steps if step.added)  # type: ignore[operator]
    assert [step.finding for step in found.steps] == ["inconclusive", "higher", "lower"]


def test_shares_of_the_foot_do_not_change_with_the_machines_speed() -> None:
    run = summary(RUNGS)
    values = {"baseline": 40.0, "placebo": 40.0, "off": 42.0, "made": 50.0, "sent": 49.0}
    speeds = (0.5, 1.0, 2.0)
    trials = [
        trial.model_copy(update={"values": {CPU: values[trial.level] * speeds[trial.block]}}) for trial in run.trials
    ]
    in_ms, in_shares = compared(run.model_copy(update={"trials": trials}), LADDER).ladders[0].climbs
    assert in_ms.steps[1].finding == "inconclusive"
    assert [step.added.mean for step in in_shares.steps if step.added] == pytest.approx([0.05, 0.2, -0.025])
    assert [step.finding for step in in_shares.steps] == ["higher", "higher", "lower"]
    assert in_shares.foot == pytest.approx(1)
    assert in_shares.total.added is not None
    assert in_shares.total.added.mean == pytest.approx(0.225)


def test_shares_of_another_foot_than_the_baseline_are_shares_of_that() -> None:
    view = LADDER | {"levels": ["made", "sent"]}
    shares = compared(summary(RUNGS), view).ladders[0].climbs[1]
    assert shares.foot == pytest.approx(1)
    assert shares.total.added is not None
    assert shares.total.added.mean == pytest.approx(-1 / 45, abs=1e-3)


def test_a_step_that_the_placebo_may_make_as_well_is_within_noise() -> None:
    noisy = {**RUNGS, "placebo": {CPU: 46.0}}
    found = climb(summary(noisy))
    assert [step.within_noise for step in found.steps] == [False, True, True]
    assert not any(step.sure for step in found.steps)
    made = ladder_tables(compared(summary(noisy), LADDER).ladders)[0].rows[1][1].finding
    assert made and (made.word, made.tone) == ("higher, within noise", "neutral")


def test_a_step_without_a_common_block_is_no_step() -> None:
    run = summary(RUNGS)
    halved = run.model_copy(update={"trials": [trial for trial in run.trials if trial.level != "made"]})
    found = climb(halved)
    assert [step.added is None for step in found.steps] == [False, True, True]
    assert found.total.added is not None
    figure = str(drawn.waterfall(compared(halved, LADDER).ladders, level_colours(list(RUNGS), "baseline", "placebo")))
    assert "no shared block" in figure


def test_a_waterfall_says_its_steps_in_the_units_of_all_measures() -> None:
    views = compared(summary(RUNGS), LADDER, LADDER | {"title": "By agent"})
    figure = str(drawn.waterfall(views.ladders, level_colours(list(RUNGS), "baseline", "placebo")))
    for text in ("By hand: CPU per request, services", "By agent: CPU per request, services", f"{MINUS}1.00 ("):
        assert text in figure
    scales = step_scales(views.ladders)
    assert [scale.unit for scale in scales.values()] == ["ms", "%", "kB"]
    assert "+9.00 (" in figure


def test_a_ladders_table_has_a_column_for_each_measure() -> None:
    (table,) = ladder_tables(compared(summary(RUNGS), LADDER).ladders)
    assert [column.title for column in table.columns[1:-1]] == [
        "CPU per request, services (ms)",
        "CPU per request, services, of the first level's (%)",
        "Bytes per request, services, both planes (kB)",
    ]
    level, *cells, blocks = table.rows[-1]
    assert (level.value, blocks.value) == ("sent", "3")
    assert [cell.value for cell in cells] == [f"{MINUS}1.00", f"{MINUS}2.50", "+9.00"]
    assert [cell.finding and cell.finding.tone for cell in cells] == ["better", "better", "worse"]


def test_a_run_without_values_has_a_ladder_without_climbs_and_no_figure() -> None:
    views = compared(summary({level: {} for level in RUNGS}), LADDER)
    assert views.ladders[0].climbs == []
    assert drawn.waterfall(views.ladders, {}) is None


FACTORS = {"telemetry": {"none": {}, "agent": {}}, "load": {"full": {}, "half": {}}, "size": {"s": {}, "l": {}}}
CROSSED = {
    "none/full/s": {CPU: 40.0},
    "agent/full/s": {CPU: 60.0},
    "none/half/s": {CPU: 32.0},
    "agent/half/s": {CPU: 57.6},
    "none/full/l": {CPU: 80.0},
    "placebo": {CPU: 40.0},
}
INTERACTION = {"kind": "interaction", "title": "Load", "factors": ["telemetry", "load"]}


def test_an_interaction_is_a_ratio_of_ratios_beside_the_baselines_level_of_other_factors() -> None:
    run = summary(CROSSED, baseline="none/full/s")
    (crossing,) = compared(run, INTERACTION, factors=FACTORS).crossings
    (cpu,) = crossing.metrics
    assert {cell: round(found.ratio.mean, 1) for cell, found in cpu.ratios.items() if found.ratio} == {
        ("agent", "full"): 1.5,
        ("agent", "half"): 1.8,
    }
    table = crossing_table(run, crossing)
    assert table.title == "Load, at size s"
    assert [
        (at.value, cost.value, more.value, found.finding and found.finding.word)
        for _, _, at, cost, more, found, _ in table.rows
    ] == [
        ("full", "1.50", "", None),
        ("half", "1.80", "1.20", "higher"),
    ]
    figure = str(drawn.crossing(run, crossing, 1).figure)
    assert "agent at half 1.80" in figure


def test_an_interaction_is_of_the_main_tables_columns_too_where_the_reference_has_them() -> None:
    values = {level: {**of, APP: 10 * of[CPU], TELEMETRY: 9.0 * ("agent" in level)} for level, of in CROSSED.items()}
    columns = [Column(metric=metric, heading=metric) for metric in (APP, TELEMETRY)]
    headline = Headline(primary=CPU, what="CPU", columns=columns)
    run = summary(values, baseline="none/full/s").model_copy(update={"headline": headline})
    (crossing,) = compared(run, INTERACTION, factors=FACTORS).crossings
    assert [crossed.metric for crossed in crossing.metrics] == [CPU, APP]


def test_the_baselines_combination_is_the_mean_of_all_that_a_run_compares_with() -> None:
    both = CROSSED | {"placebo": {CPU: 80.0}}
    run = summary(both, baseline="none/full/s").model_copy(update={"compared_with": ("none/full/s", "placebo")})
    ((cpu,),) = (crossing.metrics for crossing in compared(run, INTERACTION, factors=FACTORS).crossings)
    beside_full, beside_half = (cpu.ratios["agent", load].ratio for load in ("full", "half"))
    assert beside_full and beside_half
    assert (round(beside_full.mean, 1), round(beside_half.mean, 1)) == (1.0, 1.8)


def test_the_terminal_shows_an_interaction_too() -> None:
    run = summary(CROSSED, baseline="none/full/s")
    lines = printed(run, compared(run, INTERACTION, factors=FACTORS).crossings)
    assert lines[0].strip() == "Load, at size s"
    beside_full, beside_half = (["agent", *line.partition(" agent ")[2].split()] for line in lines if " agent " in line)
    assert beside_full == ["agent", "full", "1.50", "(1.47", "to", "1.53)"]
    assert beside_half[:3] == ["agent", "half", "1.80"]
    assert (beside_half[6], beside_half[-1]) == ("1.20", "higher")


def test_a_run_without_crossed_factors_prints_nothing_of_them() -> None:
    run = summary({"none/full/s": {CPU: 40.0}, "placebo": {CPU: 40.0}}, baseline="none/full/s")
    assert printed(run, compared(run, INTERACTION, factors=FACTORS).crossings) == []


def printed(run: Summary, crossings: Sequence[Crossing]) -> list[str]:
    out = io.StringIO()
    print_tables([crossing_table(run, one) for one in crossings if one.metrics], Console(file=out, width=100))
    return out.getvalue().splitlines()


def test_a_crossing_that_was_not_run_is_not_drawn() -> None:
    run = summary({"none/full/s": {CPU: 40.0}, "placebo": {CPU: 40.0}}, baseline="none/full/s")
    (crossing,) = compared(run, INTERACTION, factors=FACTORS).crossings
    assert drawn.crossing(run, crossing, 1).figure is None
    assert crossing_table(run, crossing).rows == []


SWEEP = {
    "kind": "sweep", "title": "Sampling", "levels": ["all", "some", "few"], "values": [1, 0.25, 1 / 32],
    "axis": "sampled share", "scale": "log2",
}  # fmt: skip


def estimate(level: str, metric: str, mean: float, ratio: float | None = None) -> dict[str, Any]:
    shown = {} if ratio is None else {"ratio": ratio, "ratio_low": ratio - 0.1, "ratio_high": ratio + 0.1}
    return {"metric": metric, "level": level, "baseline": "baseline", "mean": mean, "n": 3, **shown}


def test_a_sweep_shows_ratios_and_where_there_are_none_means() -> None:
    metric = "bytes_per_request_telemetry"
    run = summary(
        {level: {} for level in ("baseline", "placebo", "all", "some", "few")},
        estimates=[
            estimate("all", CPU, 60, 1.5),
            estimate("few", CPU, 44, 1.1),
            estimate("all", metric, 9000.0),
            estimate("some", metric, 2250.0),
        ],
    )
    headline = Headline(primary=CPU, what="CPU", main=(CPU, metric))
    run = run.model_copy(update={"metrics": {**run.metrics, metric: run.metrics[APP]}, "headline": headline})
    (view,) = compared(run, SWEEP).sweeps
    figure = str(drawn.sweep(run, view, 1).figure)
    assert "CPU per request, services: 1.50 at 1, 1.10 at 1/32. App (kB): 9.00 at 1, 2.25 at 1/4" in figure
    assert ">1/32<" in figure
    assert ">sampled share<" in figure


def test_a_sweep_without_a_valid_trial_is_not_drawn() -> None:
    run = summary({"baseline": {}, "placebo": {}})
    (view,) = compared(run, SWEEP).sweeps
    assert drawn.sweep(run, view, 1).figure is None


@pytest.mark.parametrize(
    ("value", "shown"), [(512, "512"), (0.5, "1/2"), (0.03125, "1/32"), (1 / 3, "1/3"), (0.3, "0.3"), (2.5, "2.5")]
)
def test_a_setting_is_written_as_people_do(value: float, shown: str) -> None:
    assert setting(value) == shown


def test_views_of_another_lab_are_rejected() -> None:
    with pytest.raises(UserError, match="views are not ones that this lab knows"):
        compared(summary(RUNGS), {"kind": "pie"})


def test_a_manifest_without_views_has_none() -> None:
    assert compare_views(summary(RUNGS), {}) == Compared([], [], [], [])
