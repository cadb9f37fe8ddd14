"""`lab check ways`: runs that find the same ratios pass, and each row can fail."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.analysis.runs import Run
from lab.analysis.ways import same_ratios
from lab.errors import UserError
from tests.forked import lab
from tests.several_runs import RATIOS, run, write

PRECISE: Mapping[str, Any] = {"blocks": 8, "noise": 0.003}
ONE, OTHER = run(1, **PRECISE), run(2, **PRECISE)


def failed(*runs: Run) -> dict[str, str]:
    return {row.name: row.value for row in same_ratios(runs) if not row.passed}


def test_each_two_runs_with_the_same_ratios_pass() -> None:
    rows = same_ratios([ONE, OTHER, run(3, **PRECISE)])
    assert [row.name for row in rows] == [
        f"{level}, {which}"
        for which in ("run 2 / run 1", "run 3 / run 1", "run 3 / run 2")
        for level in ("otel-manual", "otel-agent")
    ]
    assert {(row.bound, row.verdict) for row in rows} == {("within 0.970 to 1.030", "PASS")}


def test_a_way_that_finds_another_ratio_fails() -> None:
    another = run(3, RATIOS | {"otel-agent": 1.45}, **PRECISE)
    assert set(failed(ONE, OTHER, another)) == {"otel-agent, run 3 / run 1", "otel-agent, run 3 / run 2"}


def test_an_interval_that_is_not_inside_is_inconclusive() -> None:
    """The estimate alone does not show that two ways find the same."""
    wide = failed(ONE, run(2, blocks=1, noise=0.003))
    assert list(wide) == ["otel-manual, run 2 / run 1", "otel-agent, run 2 / run 1"]
    assert all(value.endswith(", inconclusive") for value in wide.values())


def test_a_level_without_a_ratio_in_one_run_fails() -> None:
    without = run(2, **PRECISE, rejected=dict.fromkeys(range(8), "otel-agent"))
    assert failed(ONE, without) == {"otel-agent, run 2 / run 1": "not measured"}


def test_levels_that_only_one_run_has_are_not_judged() -> None:
    fewer = {name: level for name, level in OTHER.summary.levels.items() if name != "otel-agent"}
    of_one = replace(OTHER, summary=OTHER.summary.model_copy(update={"levels": fewer}))
    assert [row.name for row in same_ratios([ONE, of_one])] == ["otel-manual, run 2 / run 1"]


def test_nothing_to_compare_does_not_pass() -> None:
    for runs in ([ONE], [ONE, ONE], [ONE, OTHER, ONE]):
        with pytest.raises(UserError, match="at least two runs, each named once"):
            same_ratios(runs)
    changes: list[dict[str, object]] = [{"levels": {}}, {"baseline": "otel-manual"}]
    for change in changes:
        with pytest.raises(UserError, match="different baselines, or no other level in common"):
            same_ratios([ONE, replace(OTHER, summary=OTHER.summary.model_copy(update=change))])


def test_the_command_numbers_the_runs_and_exits(tmp_path: Path) -> None:
    folders = [str(write(one, tmp_path)) for one in (ONE, OTHER)]
    done = lab("check", "ways", *folders)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [f"run {number}: {folder}" for number, folder in enumerate(folders, 1)]
    assert "otel-agent, run 2 / run 1" in done.stdout
    other = str(write(run(3, RATIOS | {"otel-agent": 1.45}, **PRECISE), tmp_path))
    assert lab("check", "ways", folders[0], other).returncode == 1
