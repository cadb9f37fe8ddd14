"""Rejected trials by level, and how many rejected sets fail a run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab import cli
from lab.analysis.metrics.alternating import IDLE
from lab.analysis.sets import WITH_ITS_SET, TooManyRejected, check_rejected, rejections
from lab.record import LevelSummary, MetricSummary, Summary, TrialSummary

LEVELS = ("baseline", "agent")


def summary(sets: int, wrong: Mapping[int, Sequence[str]], alternating: bool = True, said: bool = False) -> Summary:
    """`wrong`: the levels whose own trials were rejected, by set. The other trials of such a set are rejected too.

    `said`: the summary itself says that systems took turns; otherwise, as in older ones, only a metric shows it.
    """
    metrics = {IDLE: MetricSummary(title="Idle", unit="cores", better="lower")} if alternating and not said else {}

    def reasons(block: int, level: str) -> list[str]:
        if level in wrong.get(block, ()):
            return ["steal"]
        return [f"{WITH_ITS_SET} {', '.join(wrong[block])}"] if alternating and block in wrong else []

    return Summary.model_construct(
        levels={level: LevelSummary(settings={}, trials=sets, rejected=0) for level in LEVELS},
        metrics=metrics,
        alternating=said,
        trials=[
            TrialSummary(
                trial=f"{block}-{level}", level=level, block=block, valid=not why, reasons=why, values={}
            )
            for block in range(sets)
            for level in LEVELS
            for why in (reasons(block, level),)
        ],
    )  # fmt: skip


def test_a_tenth_of_the_sets_may_be_rejected() -> None:
    check_rejected(summary(10, {3: ["agent"]}))
    with pytest.raises(TooManyRejected, match=r"^2 of 10 sets were rejected \(limit 10 %\)$") as failed:
        check_rejected(summary(10, {3: ["agent"], 5: ["baseline", "agent"]}))
    assert failed.value.exit_code not in range(6)


def test_a_run_whose_sets_were_all_rejected_fails_although_it_has_no_metric() -> None:
    found = summary(2, {0: LEVELS, 1: LEVELS}, said=True)
    assert rejections(found) == "Rejected sets: 2 of 2; by level: baseline 2 of 2, agent 2 of 2."
    with pytest.raises(TooManyRejected, match=r"^2 of 2 sets were rejected"):
        check_rejected(found)


def test_lab_analyse_fails_after_its_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = list[Path]()
    recorded = SimpleNamespace(claims=()), None
    (tmp_path / "manifest.json").write_text("{}")
    monkeypatch.setattr(cli, "LAB", SimpleNamespace(recorded=lambda folder: recorded))
    monkeypatch.setattr("lab.command.commands.table", lambda folder, metric: printed.append(folder))
    found = [summary(10, {3: ["agent"]}), summary(10, {3: ["agent"], 5: ["agent"]})]
    monkeypatch.setattr("lab.analysis.analyse.analyse", lambda *_: found.pop(0))
    cli.analyse(tmp_path)
    with pytest.raises(TooManyRejected):
        cli.analyse(tmp_path)
    assert printed == [tmp_path, tmp_path]


def test_a_run_whose_systems_do_not_alternate_has_no_sets() -> None:
    check_rejected(summary(10, {0: ["agent"], 1: ["agent"]}, alternating=False))


def test_rejections_are_counted_by_the_level_that_caused_them() -> None:
    found = summary(10, {3: ["agent"], 5: ["baseline", "agent"]})
    assert rejections(found) == "Rejected sets: 2 of 10; by level: baseline 1 of 10, agent 2 of 10."
    assert rejections(summary(10, {})) == "Rejected sets: 0 of 10."
    assert rejections(summary(4, {1: ["agent"]}, alternating=False)) == "Rejected trials: agent 1 of 4."
    assert rejections(summary(4, {}, alternating=False)) == "Rejected trials: none."
