"""`lab check span-jmh` and `lab check span-pipeline`: a tracer that is cheap enough passes, and each row can fail."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.analysis import span_costs, span_pipeline
from lab.analysis.checklist import Row
from lab.errors import UserError
from lab.record import Estimate, Headline, LevelSummary, Summary, TrialSummary, write_json_atomic
from lab.spec import load_experiment
from tests.forked import lab
from tests.labs import LAB
from tests.repository import ROOT

Values = Mapping[str, Mapping[str, float]]
SEED, BLOCKS = 1, 6
CPU, ALLOCATED, BURST = span_costs.CPU, span_costs.ALLOCATED, span_costs.BURST
# What differs from block to block, by a share.
NOISE = (0.0, 0.01, -0.01, 0.02, -0.02, 0.0)


def setting(benchmark: str, tracer: str, compiler: str = "c2", **parameters: str) -> Mapping[str, Any]:
    return {"benchmark": benchmark, "compiler": compiler, "parameters": {"tracer": tracer, **parameters}}


LEVELS: Mapping[str, Mapping[str, Any]] = {
    "sdk-a": setting("LastByteBenchmark", "sdk-okhttp-512", attributes="10"),
    "sdk-b": setting("LastByteBenchmark", "sdk-jdk-2048", attributes="10"),
    "sdk-none": setting("LastByteBenchmark", "sdk-discard", attributes="10"),
    "sdk-c1": setting("LastByteBenchmark", "sdk-okhttp-512", "c1", attributes="10"),
    "streamed": setting("LastByteBenchmark", "streaming-chunk-per-write", attributes="10"),
    "streamed-b": setting("LastByteBenchmark", "streaming-chunk-per-span", attributes="10"),
    "caller": setting("CallerBenchmark", "streaming-discard", attributes="10"),
    "burst-1": setting("BurstBenchmark", "streaming-discard", threads="1"),
    "burst-8": setting("BurstBenchmark", "streaming-discard", threads="8"),
    "placebo": setting("LastByteBenchmark", "sdk-okhttp-512", attributes="10"),
}
GOOD: Values = {
    "sdk-a": {CPU: 3000},
    "sdk-b": {CPU: 2800},
    "sdk-none": {CPU: 700},
    "sdk-c1": {CPU: 600},
    "streamed": {CPU: 500},
    "streamed-b": {CPU: 510},
    "caller": {ALLOCATED: 60},
    "burst-1": {BURST: 1000},
    "burst-8": {BURST: 900},
    "placebo": {CPU: 100},
}


def summary(levels: Mapping[str, Mapping[str, Any]], found: Values, blocks: int = BLOCKS) -> Summary:
    trials = [
        TrialSummary(
            trial=f"{block}-{level}",
            level=level,
            block=block,
            valid=True,
            reasons=[],
            values={name: value * (1 + NOISE[block]) for name, value in values.items()},
        )
        for block in range(blocks)
        for level, values in found.items()
    ]
    estimates = [
        Estimate(
            metric=metric, level=level, baseline="x", mean=mean, mean_low=0.98 * mean, mean_high=1.02 * mean, n=blocks
        )
        for level, values in found.items()
        for metric, mean in values.items()
    ]
    return Summary(
        experiment="x",
        title="x",
        baseline=next(iter(levels)),
        placebo="placebo",
        compared_with=(),
        headline=Headline(primary=CPU, what="x"),
        confidence=0.95,
        equivalence_margin=0.05,
        metrics={},
        levels={name: LevelSummary(settings=given, trials=blocks, rejected=0) for name, given in levels.items()},
        estimates=estimates,
        trials=trials,
    )


def benchmarks(changed: Values | None = None, more: Mapping[str, Mapping[str, Any]] | None = None) -> list[Row]:
    return span_costs.required(summary({**LEVELS, **(more or {})}, {**GOOD, **(changed or {})}), SEED)


def failed(rows: list[Row]) -> list[str]:
    return [row.name for row in rows if not row.passed]


def test_a_cheap_tracer_passes() -> None:
    rows = benchmarks()
    assert failed(rows) == []
    assert [row.value for row in rows] == [
        "sdk-b",
        "streamed",
        "5.60 (5.60 to 5.60)",
        "60.0 (58.8 to 61.2) B",
        "0.90 (0.90 to 0.90)",
    ]
    assert [row.bound for row in rows[2:]] == ["at least 5.00", "at most 100.0 B", "at most 1.10"]


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"sdk-b": {CPU: 2400}}, "CPU per span, plain: SDK / streaming"),
        ({"caller": {ALLOCATED: 99}}, "allocated per span"),
        ({"caller": {}}, "allocated per span"),
        ({"burst-8": {BURST: 1200}}, "burst of 4,000"),
        ({"burst-1": {}}, "burst of 4,000"),
        # The best of one setting is no choice.
        ({"sdk-a": {}}, "SDK at its best, plain"),
        ({"streamed-b": {}}, "streaming at its best, plain"),
    ],
)
def test_each_row_can_fail(changed: Values, name: str) -> None:
    (one,) = failed(benchmarks(changed))
    assert one.startswith(name)


def test_a_tracer_that_was_not_measured_fails() -> None:
    rows = benchmarks({"sdk-a": {}, "sdk-b": {}})
    assert failed(rows) == ["SDK at its best, plain", "CPU per span, plain: SDK / streaming"]


COMPRESSED: Mapping[str, Mapping[str, Any]] = {
    "sdk-gzip": setting("LastByteBenchmark", "sdk-okhttp-512-gzip", attributes="10"),
    "sdk-gzip-b": setting("LastByteBenchmark", "sdk-jdk-512-gzip", attributes="10"),
    "streamed-gzip": setting("LastByteBenchmark", "streaming-chunk-per-write-gzip", attributes="10"),
    "streamed-gzip-b": setting("LastByteBenchmark", "streaming-group-per-write-gzip", attributes="10"),
}


@pytest.mark.parametrize(
    ("tracer", "best"), [("sdk", "SDK at its best, gzip"), ("streamed", "streaming at its best, gzip")]
)
def test_a_tracer_without_valid_compressed_trials_fails_and_one_without_such_levels_is_left_out(
    tracer: str, best: str
) -> None:
    others = {level: words for level, words in COMPRESSED.items() if not level.startswith(tracer)}
    costs = {level: {CPU: 6000 if level.startswith("sdk") else 1000} for level in others}
    rows = benchmarks(costs, COMPRESSED)
    assert failed(rows) == [best, "CPU per span, gzip: SDK / streaming"]
    assert [row.value for row in rows if not row.passed] == ["not measured", "not measured"]
    assert not [row for row in benchmarks(costs, others) if "gzip" in row.name]


def test_equal_compression_is_compared() -> None:
    costs = {"sdk-gzip": 4000, "sdk-gzip-b": 5000, "streamed-gzip": 1000, "streamed-gzip-b": 2000}
    rows = benchmarks({level: {CPU: cost} for level, cost in costs.items()}, COMPRESSED)
    assert failed(rows) == ["CPU per span, gzip: SDK / streaming"]
    assert [row.value for row in rows[3:6]] == ["sdk-gzip", "streamed-gzip", "4.00 (4.00 to 4.00)"]


def test_the_best_setting_is_chosen_on_other_blocks_than_those_that_are_compared() -> None:
    """In the first two blocks the second is better, in all others the first: the second is compared."""
    run = summary(LEVELS, GOOD)
    late = [
        one.model_copy(update={"values": {CPU: 9000.0}}) if one.level == "sdk-b" and one.block >= 2 else one
        for one in run.trials
    ]
    sdk, _, ratio, *_ = span_costs.required(run.model_copy(update={"trials": late}), SEED)
    assert sdk.value == "sdk-b"
    assert ratio.value.startswith("18.")


def test_two_blocks_only_choose() -> None:
    row = span_costs.required(summary(LEVELS, GOOD, blocks=2), SEED)[2]
    assert (row.value, row.passed) == ("not measured", False)


def test_a_run_of_something_else_is_rejected() -> None:
    with pytest.raises(UserError, match="no benchmarks"):
        span_costs.required(summary({"a": {}, "placebo": {}}, {}), SEED)
    with pytest.raises(UserError, match="no level streaming-sink"):
        span_pipeline.required(summary({"a": {}, "placebo": {}}, {}), SEED)
    with pytest.raises(UserError, match="no numbers of users"):
        span_pipeline.saturation(summary({"a": {}, "placebo": {}}, {}), SEED)


def test_the_shipped_experiments_have_what_is_checked() -> None:
    shipped = load_experiment(ROOT / "experiments" / "span-jmh.yaml", LAB.grammar)
    levels = {level.name: level.recorded() for level in shipped.levels()}
    every = {CPU: 1.0, ALLOCATED: 1.0, BURST: 1.0}
    rows = span_costs.required(summary(levels, dict.fromkeys(levels, every)), SEED)
    assert "not measured" not in " ".join(row.value for row in rows)
    pipeline = load_experiment(ROOT / "experiments" / "span-pipeline.yaml", LAB.grammar)
    assert set(span_pipeline.LEVELS) <= {level.name for level in pipeline.levels()}
    saturation = load_experiment(ROOT / "experiments" / "span-saturation.yaml", LAB.grammar)
    names = [level.name for level in saturation.levels()]
    every = {COST: 1.0, LOST: 0.0, PER_REQUEST: 1.0}
    rows = span_pipeline.saturation(summary({name: {} for name in names}, dict.fromkeys(names, every)), SEED)
    assert [row.value.split()[0] for row in rows] == ["16", "16"]


COST, LOST, DROPPED = span_pipeline.COST, span_pipeline.LOST, span_pipeline.DROPPED
SYSTEM: Values = {
    "manual-unsampled": {COST: 20},
    "manual-sink": {COST: 30},
    "streaming-sink": {COST: 23, LOST: 0.0001, DROPPED: 0.0},
}


def system(changed: Values | None = None) -> list[Row]:
    found = {**SYSTEM, **(changed or {})}
    return span_pipeline.required(summary({name: {} for name in found}, found), SEED)


def test_a_tracer_that_saves_most_of_the_cost_passes() -> None:
    rows = system()
    assert failed(rows) == []
    assert rows[0].value == "0.70 (0.70 to 0.70)"


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"streaming-sink": {COST: 26, LOST: 0.0, DROPPED: 0.0}}, "gone of what the SDK adds"),
        ({"streaming-sink": {COST: 23, LOST: 0.01, DROPPED: 0.0}}, "spans lost, streaming-sink"),
        ({"streaming-sink": {COST: 23, DROPPED: 0.0}}, "spans lost, streaming-sink"),
        ({"streaming-sink": {COST: 23, LOST: 0.0, DROPPED: 1e-6}}, "spans that the tracer dropped, streaming-sink"),
        ({"streaming-sink": {COST: 23, LOST: 0.0}}, "spans that the tracer dropped, streaming-sink"),
        ({"manual-sink": {COST: 19}}, "gone of what the SDK adds"),
    ],
)
def test_each_row_of_a_system_can_fail(changed: Values, name: str) -> None:
    (one,) = failed(system(changed))
    assert one.startswith(name)


PER_REQUEST = span_pipeline.PER_REQUEST
LOADS: Values = {
    "manual/users-2": {COST: 20, LOST: 0.0, PER_REQUEST: 100},
    "manual/users-10": {COST: 10, LOST: 0.002, PER_REQUEST: 99.8},
    "streaming/users-2": {COST: 20, LOST: 0.0, DROPPED: 0.0, PER_REQUEST: 100},
    "streaming/users-10": {COST: 10, LOST: 0.0, DROPPED: 0.0, PER_REQUEST: 100},
}


def saturated(changed: Values | None = None) -> list[Row]:
    found = {**LOADS, **(changed or {})}
    return span_pipeline.saturation(summary({name: {} for name in found}, found), SEED)


def test_the_largest_load_without_a_loss_is_found_for_each_tracer() -> None:
    rows = saturated()
    assert failed(rows) == []
    assert [row.name.rpartition(" ")[2] for row in rows] == ["manual", "streaming"]
    assert [row.value for row in rows] == [
        "2 of 10 users, 0.00 to 0.00 % lost, 5000 (5000 to 5000) spans per CPU-second; "
        "first above 0.1 % with 10 users, 0.20 to 0.20 % lost",
        "10 of 10 users, 0.00 to 0.00 % dropped, 10000 (10000 to 10000) spans per CPU-second",
    ]


@pytest.mark.parametrize(
    ("users", "values"),
    [
        (2, {COST: 20, LOST: 0.01, PER_REQUEST: 99}),
        (2, {COST: 20}),
        (2, {COST: 20, LOST: -0.005, DROPPED: 0.002, PER_REQUEST: 100}),
        (10, {COST: 10, LOST: -0.005, PER_REQUEST: 100}),
    ],
)
def test_a_tracer_that_loses_spans_or_may_lose_them_fails(users: int, values: Mapping[str, float]) -> None:
    """A larger load that loses nothing does not help: it is beyond the first loss."""
    rows = saturated({f"streaming/users-{users}": values})
    assert failed(rows) == ["largest load, streaming"]
    assert rows[1].value.endswith("inconclusive") == (users == 10)
    lost = max(values.get(LOST, 0), values.get(DROPPED, 0)) > 0
    assert rows[1].value.startswith("first above 0.1 % with 2 users") == lost


@pytest.mark.parametrize(
    ("changed", "ends"),
    [
        ({"streaming/users-10": {COST: 10}}, "spans per CPU-second; 10 users not measured"),
        ({"streaming/users-2": {COST: 20, LOST: -0.005, PER_REQUEST: 100}}, "inconclusive"),
    ],
)
def test_beyond_a_load_of_which_nothing_is_known_there_is_no_limit(changed: Values, ends: str) -> None:
    rows = saturated(changed)
    assert failed(rows) == ["largest load, streaming"]
    assert rows[1].value.startswith("2 of 10 users")
    assert rows[1].value.endswith(ends)


@pytest.mark.parametrize(
    ("experiment", "run", "passes"),
    [
        ("span-saturation", summary({name: {} for name in LOADS}, LOADS), "10 of 10 users"),
        ("span-jmh", summary(LEVELS, GOOD), "at least 5.00"),
        ("span-pipeline", summary({name: {} for name in SYSTEM}, SYSTEM), "at least 0.50"),
    ],
)
def test_the_command_prints_the_rows(experiment: str, run: Summary, passes: str, tmp_path: Path) -> None:
    write_json_atomic(
        tmp_path / "summary.json", {"format": "tollbooth.summary", "version": 2, **run.model_dump(mode="json")}
    )
    write_json_atomic(
        tmp_path / "manifest.json",
        {"format": "tollbooth.manifest", "version": 2, "spec": {"protocol": {"seed": SEED}}},
    )
    said = lab("check", experiment, str(tmp_path))
    assert said.returncode == 0, said.stderr
    assert passes in said.stdout
    assert "FAIL" not in said.stdout
