"""What an overhead consists of, and what systems that alternate use between and during their turns."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.analysis.metrics.alternating import BUSY, IDLE, WITHOUT_IDLE
from lab.record import Estimate, LevelSummary, MetricSummary, Summary, TrialSummary, read_summary
from lab.report.numbers import DASH, MINUS
from lab.report.overhead import CPU, machine_used, overhead
from lab.report.tables import Table

JIT, GC, EXPORT = "jit_cpu_per_request_ms", "gc_cpu_per_request_ms", "exporter_cpu_per_request_ms"
AS_MEASURED = "cpu_per_request_services_as_measured_ms"
KEPT = Path(__file__).resolve().parents[2] / "docs" / "results"


def estimate(metric: str, level: str, difference: float, half: float, **more: object) -> Estimate:
    ends = {"difference_low": difference - half, "difference_high": difference + half}
    return Estimate.model_validate(
        {"metric": metric, "level": level, "baseline": "baseline", "mean": 40.0, "n": 3, "difference": difference}
        | ends
        | more
    )


AGENT = [
    estimate(CPU, "agent", 10.0, 1.0, finding="higher", ratio=1.25, noise_floor=0.02),
    estimate(JIT, "agent", 0.9, 0.2),
    estimate(GC, "agent", -0.4, 0.1),
    estimate(EXPORT, "agent", 2.5, 0.5),
]


def summary(*estimates: Estimate, values: Mapping[str, float] | None = None) -> Summary:
    metrics = {one.metric for one in estimates} | set(values or {})
    return Summary.model_construct(
        baseline="baseline",
        placebo="placebo",
        compared_with=("baseline", "placebo"),
        confidence=0.95,
        metrics={name: MetricSummary(title=name, unit="ms", better="lower") for name in metrics},
        levels={level: LevelSummary(settings={}, trials=1, rejected=0) for level in ("baseline", "agent")},
        estimates=estimates,
        adjustments={},
        trials=[
            TrialSummary(
                trial=f"{block}-{level}", level=level, block=block, position=place, valid=block == 0,
                reasons=[] if block == 0 else ["steal"], values=dict(values or {}) if block == 0 else {},
            )
            for block, order in enumerate((("agent", "baseline"), ("baseline", "agent")))
            for place, level in enumerate(order)
        ],
    )  # fmt: skip


def shown(table: Table, row: int) -> list[str]:
    return [cell.text for cell in table.rows[row]]


def test_a_part_is_a_difference_with_its_interval_and_a_share() -> None:
    (parts,) = overhead(summary(*AGENT)).tables
    assert shown(parts, 1) == [
        "agent", "+10.0 ± 1.0", "+0.9 ± 0.2", "9 %", f"{MINUS}0.4 ± 0.1", f"{MINUS}4 %", "+2.5 ± 0.5", "25 %", DASH,
    ]  # fmt: skip
    assert shown(parts, 0)[:3] == ["baseline", DASH, DASH]


@pytest.mark.parametrize(
    "total",
    [
        {"finding": "inconclusive", "ratio": 1.25, "noise_floor": 0.02},
        {"finding": "higher", "ratio": 1.25, "noise_floor": 0.3},
    ],
    ids=["inconclusive", "within noise"],
)
def test_an_overhead_that_may_be_none_has_no_shares(total: Mapping[str, object]) -> None:
    (parts,) = overhead(summary(estimate(CPU, "agent", 10.0, 1.0, **total), *AGENT[1:])).tables
    assert shown(parts, 1)[1:4] == ["+10.0 ± 1.0", "+0.9 ± 0.2", ""]
    assert "%" not in {column.narrow for column in parts.columns}


def test_parts_are_compared_with_the_overhead_as_measured() -> None:
    measured = estimate(AS_MEASURED, "agent", 9.0, 1.0, finding="higher", ratio=1.25, noise_floor=0.02)
    (parts,) = overhead(summary(*AGENT, measured)).tables
    assert shown(parts, 1)[1:4] == ["+9.00 ± 1.00", "+0.90 ± 0.20", "10 %"]


def test_systems_that_alternate_have_idle_cores_and_collections_by_level_and_set() -> None:
    values = {IDLE: 0.002, CPU: 41.2, WITHOUT_IDLE: 40.9, GC: 0.21, "gc_count_per_request": 0.25}
    means = [Estimate(metric=name, level="agent", baseline="baseline", mean=one, n=1) for name, one in values.items()]
    found = overhead(summary(*means, values=values))
    assert shown(found.tables[-1], 1) == ["agent", "0.00200", "41.2", "40.9", "0.210", "0.250"]
    assert found.sets is not None
    assert [shown(found.sets, row)[:5] for row in range(4)] == [
        ["1", "baseline", "2", "0.00200", "41.2"],
        ["1", "agent", "1", "0.00200", "41.2"],
        ["2", "baseline", "1", DASH, DASH],
        ["2", "agent", "2", DASH, DASH],
    ]


def test_how_much_of_the_machine_was_used_is_said_from_least_to_most() -> None:
    run = summary(values={BUSY: 0.524})
    assert machine_used(run) == [
        "Under load, the lab's containers used 52 % of the machine, without the spinner (limit 70 %)."
    ]
    trials = [
        trial.model_copy(update={"values": {BUSY: busy}})
        for trial, busy in zip(run.trials, (0.581, 0.524, 0.55, 0.53), strict=True)
    ]
    more = run.model_copy(update={"trials": trials})
    assert machine_used(more) == [
        "Under load, the lab's containers used 52 to 58 % of the machine, without the spinner (limit 70 %)."
    ]
    assert machine_used(summary(*AGENT)) == []


def test_a_run_without_the_cpu_of_threads_has_no_such_tables() -> None:
    found = overhead(read_summary(KEPT / "side-by-side" / "summary.json"))
    assert (found.tables, found.sets) == ([], None)
