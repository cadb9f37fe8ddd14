"""`lab check receivers`: served requests pass, noise makes a ratio inconclusive, losses are counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from lab.analysis.checklist import Row
from lab.analysis.sick_receivers import DROPPED, FAILED, LOST, P99, REJECTED, SENT, sick
from lab.errors import UserError
from lab.record import Estimate, Headline, LevelSummary, Summary, write_json_atomic
from tests.forked import lab

COUNTED: Mapping[str, float] = {FAILED: 0.0, SENT: 24_000.0, DROPPED: 10.0, REJECTED: 0.0, LOST: 18_000.0}
FAULT = {"kind": "killed", "target": "collector", "start_s": 5, "length_s": 15}


def p99(level: str, ratio: float, noise: float) -> Estimate:
    return Estimate(
        metric=P99,
        level=level,
        baseline="none",
        mean=2.0,
        ratio=ratio,
        ratio_low=ratio - 0.05,
        ratio_high=ratio + 0.05,
        n=5,
        noise_floor=noise,
    )


def summary(
    ratios: Sequence[Estimate], counted: Mapping[str, float] = COUNTED, faults: Sequence[object] = (FAULT,)
) -> Summary:
    levels: Mapping[str, Mapping[str, object]] = {"none": {}, "healthy": {"faults": []}, "down": {"faults": faults}}
    estimates = [
        Estimate(metric=metric, level="down", baseline="none", mean=mean, n=5) for metric, mean in counted.items()
    ]
    return Summary(
        experiment="proxy-faults",
        title="x",
        baseline="none",
        placebo="placebo",
        compared_with=("none", "placebo"),
        headline=Headline(primary=P99, what="x"),
        confidence=0.95,
        equivalence_margin=0.05,
        metrics={},
        levels={name: LevelSummary(settings=given, trials=5, rejected=0) for name, given in levels.items()},
        estimates=[*estimates, *ratios],
        trials=[],
    )


def failed(rows: Sequence[Row]) -> list[str]:
    return [row.name for row in rows if not row.passed]


def test_requests_are_served_and_losses_counted() -> None:
    rows = sick(summary([p99("down", 1.04, 0.08)]))
    assert failed(rows) == []
    assert [row.value for row in rows] == [
        "0",
        "1.04 (0.99 to 1.09), noise 8.0%",
        "18000 lost, 0 rejected and 10 dropped of 24010",
    ]


def test_a_ratio_in_more_noise_is_inconclusive() -> None:
    rows = sick(summary([p99("down", 1.3, 0.11)]))
    assert failed(rows) == ["down: p99 to that without a tracer"]
    assert rows[1].value == "1.30 (1.25 to 1.35), noise 11.0%: inconclusive"


@pytest.mark.parametrize(
    ("ratios", "counted", "fails"),
    [
        ([p99("down", 1.0, 0.05)], {**COUNTED, FAILED: 0.2}, "down: requests that failed, of a trial"),
        ([], COUNTED, "down: p99 to that without a tracer"),
        ([p99("down", 1.0, 0.05)], {FAILED: 0.0, SENT: 9.0}, "down: spans of a trial"),
        ([], {}, "down: valid trials"),
    ],
)
def test_each_row_can_fail(ratios: Sequence[Estimate], counted: Mapping[str, float], fails: str) -> None:
    assert failed(sick(summary(ratios, counted))) == [fails]


def test_a_run_without_a_fault_is_reported() -> None:
    with pytest.raises(UserError, match="no level whose receiver is sick"):
        sick(summary([], faults=()))


@pytest.mark.parametrize(("noise", "code"), [(0.05, 0), (0.2, 1)])
def test_the_command_exits_with_1_on_a_miss(noise: float, code: int, tmp_path: Path) -> None:
    made = summary([p99("down", 1.0, noise)])
    write_json_atomic(tmp_path / "summary.json", made.model_dump(mode="json"))
    write_json_atomic(tmp_path / "manifest.json", {"format": "tollbooth.manifest", "version": 2})
    said = lab("check", "receivers", str(tmp_path))
    assert said.returncode == code
    assert ("FAIL" in said.stdout) == bool(code)
