"""Two checkouts by turns: what is read of each, in which order, and what the ratio's interval is."""

import json
import math
import stat
from pathlib import Path

import pytest

from tests.golden import alternate

LAB = """#!/bin/sh
echo "$PWD $*" >> {log}
mkdir -p results/baseline/latest
[ "$1" = analyse ] && cp {summary} results/baseline/latest/summary.json
exit 0
"""


def summary(*costs: float) -> dict[str, object]:
    trials = [{"level": "baseline", "valid": True, "values": {"cpu_per_request_services_ms": cost}} for cost in costs]
    spoilt = {"level": "baseline", "valid": False, "values": {"cpu_per_request_services_ms": 1.0}}
    other = {"level": "otel-agent", "valid": True, "values": {"cpu_per_request_services_ms": 1.0}}
    return {"experiment": "x", "baseline": "baseline", "placebo": "placebo", "trials": [*trials, spoilt, other]}


def test_the_baselines_valid_trials_count() -> None:
    assert alternate.cpu_per_request_ms(summary(40.0, 90.0)) == pytest.approx(60.0)


def test_times_are_taken_as_measured() -> None:
    values = {"cpu_per_request_services_ms": 41.0, "cpu_per_request_services_as_measured_ms": 44.0}
    run = summary() | {"trials": [{"level": "placebo", "valid": True, "values": values}]}
    assert alternate.cpu_per_request_ms(run) == pytest.approx(44.0)


def test_a_run_without_a_valid_trial_is_no_number() -> None:
    with pytest.raises(ValueError, match="no valid trial"):
        alternate.cpu_per_request_ms(summary())


def test_the_order_is_drawn_by_the_seed() -> None:
    drawn = alternate.orders(40, seed=1)
    assert drawn == alternate.orders(40, seed=1) != alternate.orders(40, seed=2)
    assert set(drawn) == {("old", "new"), ("new", "old")}


def test_the_ratio_is_that_of_pairs() -> None:
    ratio = alternate.paired_ratio([40.0, 80.0, 60.0], [44.0, 80.0, 60.0 * 1.2])
    logs = [math.log(1.1), 0.0, math.log(1.2)]
    mean = sum(logs) / 3
    reach = 4.302652729911275 * math.sqrt(sum((log - mean) ** 2 for log in logs) / 2 / 3)
    assert (ratio.ratio, ratio.low, ratio.high) == pytest.approx(
        tuple(map(math.exp, (mean, mean - reach, mean + reach)))
    )
    assert ratio.blocks == 3


def test_each_block_runs_both_checkouts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log"
    for name, cost in (("old", 40.0), ("new", 42.0)):
        command = tmp_path / name / ".venv" / "bin" / "lab"
        command.parent.mkdir(parents=True)
        (tmp_path / f"{name}.json").write_text(json.dumps(summary(cost)))
        command.write_text(LAB.format(log=log, summary=tmp_path / f"{name}.json"))
        command.chmod(stat.S_IRWXU)
    alternate.main([str(tmp_path / "old"), str(tmp_path / "new"), "--blocks", "2"])
    assert capsys.readouterr().out.splitlines()[-1] == "new/old 1.0500 (95 %: 1.0500 to 1.0500), 2 blocks"
    lines = log.read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["run", "analyse"] * 4
