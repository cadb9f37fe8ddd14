"""`lab check known-rate` and `lab check search-spread`: searches that find the rate pass, and each row can fail."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lab.analysis.checklist import Row
from lab.analysis.searches import known_rate, search_spread
from lab.errors import UserError
from lab.record import Headline, LevelSummary, Summary, TrialSummary, write_json_atomic
from lab.spec import load_experiment
from tests.forked import lab
from tests.labs import LAB
from tests.repository import ROOT

KNOWN = 10_000.0
NEAR = [KNOWN * share for share in (1.01, 0.98, 1.02, 0.99, 1.0, 0.97, 1.03, 1.0, 0.99, 1.04)]


def search(
    number: int,
    spans_per_s: float,
    valid: bool = True,
    minutes: float = 3,
    bound: bool = False,
    failed_per_s: float = 0,
) -> TrialSummary:
    level = ("basic", "placebo")[number % 2]
    return TrialSummary(
        trial=f"{number:03d}-{level}",
        level=level,
        block=number // 2,
        valid=valid,
        reasons=[] if valid else ["no rate was found"],
        values={"capacity_spans_per_s": spans_per_s, "search_s": 60 * minutes, "traces_failed_per_s": failed_per_s}
        if valid
        else {},
        censored={"capacity_spans_per_s": "at least"} if bound else {},
    )


def summary(trials: Sequence[TrialSummary], known: float | None = KNOWN) -> Summary:
    levels = {
        name: LevelSummary(
            settings={"sink_spans_per_s": known},
            trials=sum(one.valid for one in trials if one.level == name),
            rejected=sum(not one.valid for one in trials if one.level == name),
        )
        for name in ("basic", "placebo")
    }
    return Summary(
        experiment="known-rate",
        title="x",
        baseline="basic",
        placebo="placebo",
        compared_with=("basic", "placebo"),
        headline=Headline(primary="capacity_spans_per_s", what="x"),
        confidence=0.95,
        equivalence_margin=0.05,
        metrics={},
        levels=levels,
        estimates=[],
        trials=trials,
    )


def failed(rows: Sequence[Row]) -> set[str]:
    return {row.name for row in rows if not row.passed}


def searches(rates: Sequence[float]) -> list[TrialSummary]:
    return [search(number, rate) for number, rate in enumerate(rates)]


def test_ten_searches_near_the_known_rate_pass() -> None:
    rows = known_rate(summary(searches(NEAR)))
    assert failed(rows) == set()
    assert [row.value for row in rows] == ["10", "0 %", "4 %", "3 min"]


@pytest.mark.parametrize(
    ("trials", "fails"),
    [
        (searches(NEAR[:9]), {"searches"}),
        (searches([*NEAR[:9], 1.06 * KNOWN]), {"furthest from the known rate"}),
        ([*searches(NEAR[:9]), search(9, KNOWN, bound=True)], {"furthest from the known rate"}),
        ([*searches(NEAR[:9]), search(9, KNOWN, minutes=11)], {"longest search"}),
        ([*searches(NEAR), search(10, 0, valid=False), search(11, 0, valid=False)], {"searches rejected"}),
    ],
)
def test_each_row_can_fail(trials: list[TrialSummary], fails: set[str]) -> None:
    assert failed(known_rate(summary(trials))) == fails


def test_rejected_searches_are_counted_one_by_one() -> None:
    one_of_eleven = known_rate(summary([*searches(NEAR), search(10, 0, valid=False)]))
    assert failed(one_of_eleven) == set()
    assert next(row.value for row in one_of_eleven if row.name == "searches rejected") == "9.09 %"


def test_rejected_searches_of_levels_that_are_not_judged_do_not_count() -> None:
    others = [search(number, 0, valid=False).model_copy(update={"level": "tail"}) for number in range(5)]
    rows = search_spread(summary([*searches([50_000.0, 51_000, 49_000, 52_000, 48_000]), *others], known=None))
    assert failed(rows) == set()
    assert next(row.value for row in rows if row.name == "searches rejected") == "0 %"


def test_searches_of_a_collector_are_compared_with_their_median() -> None:
    rates = [50_000.0, 51_000, 49_000, 52_000, 48_000]
    rows = search_spread(summary(searches(rates), known=None))
    assert failed(rows) == set()
    assert "furthest from the median, 50000 spans/s" in {row.name for row in rows}
    assert failed(search_spread(summary(searches([*rates, 53_500]), known=None))) == {
        "furthest from the median, 50500 spans/s"
    }
    assert failed(search_spread(summary(searches(rates[:4]), known=None))) == {"searches"}


def test_a_rate_at_which_traces_fail_when_it_is_sent_again_is_named() -> None:
    rates = [50_000.0, 51_000, 49_000, 52_000]
    rows = search_spread(summary([*searches(rates), search(4, 50_000, failed_per_s=0.1)], known=None))
    assert failed(rows) == {"rates without a failed trace, when sent again"}
    assert rows[-1].value == "4"


def test_a_run_without_what_is_judged_is_named() -> None:
    with pytest.raises(UserError, match="levels without a known rate"):
        known_rate(summary(searches(NEAR), known=None))
    with pytest.raises(UserError, match="no valid search of basic, placebo"):
        search_spread(summary([search(0, 0, valid=False)]))


@pytest.mark.parametrize(("name", "least"), [("known-rate", 10), ("collector-search", 5)])
def test_the_experiments_make_as_many_searches_as_are_required(name: str, least: int) -> None:
    experiment = load_experiment(ROOT / "experiments" / f"{name}.yaml", LAB.grammar)
    assert 2 * experiment.protocol.repetitions >= least
    assert experiment.load.schedule.kind == "search"


@pytest.mark.parametrize(("command", "count", "code"), [("known-rate", 9, 1), ("search-spread", 9, 0)])
def test_the_commands_print_the_rows_and_exit(command: str, count: int, code: int, tmp_path: Path) -> None:
    write_json_atomic(tmp_path / "summary.json", summary(searches(NEAR[:count])).model_dump(mode="json"))
    write_json_atomic(tmp_path / "manifest.json", {"format": "tollbooth.manifest", "version": 2})
    done = lab("check", command, str(tmp_path))
    assert done.returncode == code
    line = next(line for line in done.stdout.splitlines() if line.startswith("searches  "))
    assert line.split()[:2] == ["searches", str(count)]
    assert line.split()[-1] == ("FAIL" if code else "PASS")
