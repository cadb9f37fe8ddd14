"""From a results folder to estimates, on made-up runs with a known truth."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from lab.analysis.analyse import summarise
from lab.analysis.claims.judge import judge
from lab.analysis.claims.spec import Study
from lab.analysis.views import climb_ladder
from lab.errors import UserError
from lab.record.summary import Estimate, Summary, TrialSummary, read_summary
from lab.report.terminal import print_summary
from lab.spec.parse import recorded_experiment
from lab.spec.views import Waterfall
from tests.labs import LAB, MESH, analyse
from tests.synthetic import QUICK, write_results

CPU = "cpu_per_request_services_ms"


def estimate(summary: Summary, level: str, metric: str = CPU) -> Estimate:
    return next(row for row in summary.estimates if (row.level, row.metric) == (level, metric))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_results(tmp_path_factory.mktemp("run"), blocks=5)


@pytest.fixture(scope="module")
def summary(run: Path) -> Summary:
    return analyse(run)


def test_the_ratios_that_were_put_in_are_found(summary: Summary) -> None:
    for level in ("otel-manual", "otel-agent"):
        truth = QUICK[level].cpu_ms / QUICK["baseline"].cpu_ms
        found = estimate(summary, level)
        assert found.ratio_low is not None and found.ratio_high is not None
        assert found.ratio_low < truth < found.ratio_high
        assert found.ratio_high - found.ratio_low < 0.2
        assert found.finding == "higher"
        assert found.n == 5


def test_differences_are_in_the_metrics_unit(summary: Summary) -> None:
    found = estimate(summary, "otel-agent", "bytes_per_request_app")
    context_bytes = QUICK["otel-agent"].app_bytes - QUICK["baseline"].app_bytes
    assert found.difference == pytest.approx(context_bytes, rel=0.05)


def test_what_the_baseline_lacks_is_compared_by_difference(summary: Summary) -> None:
    sent = estimate(summary, "otel-agent", "bytes_per_request_telemetry")
    assert (sent.ratio, sent.noise_floor) == (None, None)
    assert sent.difference == pytest.approx(QUICK["otel-agent"].telemetry_bytes, rel=0.02)
    assert sent.finding == "higher"
    assert estimate(summary, "placebo", "bytes_per_request_telemetry").finding == "same within margin"


def test_the_placebo_is_not_called_different_and_gives_the_noise_floor(summary: Summary) -> None:
    placebo = estimate(summary, "placebo")
    assert placebo.finding in {"same within margin", "inconclusive"}
    assert placebo.ratio_low is not None and placebo.ratio_high is not None
    expected = max(1 - placebo.ratio_low, placebo.ratio_high - 1)
    assert [estimate(summary, level).noise_floor for level in summary.levels] == [pytest.approx(expected)] * 4


def test_the_baselines_rows_compare_nothing(summary: Summary) -> None:
    row = estimate(summary, "baseline")
    assert (row.ratio, row.difference, row.p_value, row.finding) == (None, None, None, None)
    assert row.mean_low is not None and row.mean_low < row.mean


def test_p_values_are_corrected_over_the_levels(summary: Summary) -> None:
    rows = [estimate(summary, level) for level in summary.levels if level != "baseline"]
    smallest = min(rows, key=lambda row: row.p_value or 0)
    assert smallest.p_value is not None
    assert smallest.p_adjusted == pytest.approx(3 * smallest.p_value)


def test_levels_come_in_the_readers_order_with_their_trials(summary: Summary) -> None:
    assert list(summary.levels) == ["baseline", "placebo", "otel-manual", "otel-agent"]
    assert {level.trials for level in summary.levels.values()} == {5}
    assert sum(level.rejected for level in summary.levels.values()) == 1


def test_rejected_trials_are_reported_and_not_counted(summary: Summary) -> None:
    rejected = [trial for trial in summary.trials if not trial.valid]
    assert len(rejected) == 1
    assert "the host stole" in rejected[0].reasons[0]
    assert rejected[0].values == {}


def test_the_summary_on_disk_is_the_one_returned(run: Path, summary: Summary) -> None:
    assert read_summary(run / "summary.json").model_dump(mode="json") == summary.model_dump(mode="json")


def test_the_same_records_give_the_same_summary(run: Path, summary: Summary) -> None:
    before = (run / "summary.json").read_bytes()
    assert analyse(run) == summary
    assert (run / "summary.json").read_bytes() == before


@pytest.mark.parametrize("blocks", [1, 2])
def test_one_pair_has_an_estimate_without_interval_and_two_have_one(tmp_path: Path, blocks: int) -> None:
    found = estimate(analyse(write_results(tmp_path, blocks=blocks)), "otel-agent")
    assert found.ratio == pytest.approx(1.5, rel=0.1)
    assert (found.ratio_low is None) == (blocks == 1)
    assert blocks == 2 or found.finding == "inconclusive"


def summarised(run: Path, *trials: tuple[str, int, float]) -> Summary:
    """Summarise trials of (level, block, CPU per request)."""
    experiment = recorded_experiment(json.loads((run / "manifest.json").read_text())["spec"], LAB.grammar)
    return summarise(
        experiment,
        MESH,
        [
            TrialSummary(
                trial=f"{level}-{block}", level=level, block=block, valid=True, reasons=[], values={CPU: value}
            )
            for level, block, value in trials
        ],
    )


def test_only_complete_pairs_count(run: Path) -> None:
    found = summarised(
        run,
        *(("baseline", 0, 10.0), ("baseline", 1, 20.0), ("baseline", 3, 40.0)),
        *(("otel-agent", 0, 15.0), ("otel-agent", 2, 90.0), ("otel-agent", 3, 60.0)),
    )
    row = estimate(found, "otel-agent")
    assert (row.n, row.ratio) == (2, pytest.approx(1.5))
    assert row.mean == pytest.approx(55)


def test_levels_are_compared_with_the_baseline_and_the_placebo_which_repeats_it(run: Path) -> None:
    """Block 2 lacks a valid baseline, block 3 a placebo: there the other of both counts."""
    found = summarised(
        run,
        *(("baseline", 0, 10.0), ("baseline", 1, 20.0), ("baseline", 3, 30.0)),
        *(("placebo", 0, 14.0), ("placebo", 1, 16.0), ("placebo", 2, 40.0)),
        *(("otel-agent", block, value) for block, value in enumerate((18.0, 36.0, 60.0, 90.0))),
    )
    row, placebo = estimate(found, "otel-agent"), estimate(found, "placebo")
    assert found.compared_with == ("baseline", "placebo")
    assert (row.n, row.ratio) == (4, pytest.approx((18 / 12 * 36 / 18 * 60 / 40 * 90 / 30) ** (1 / 4)))
    assert row.difference == pytest.approx((6 + 18 + 20 + 60) / 4)
    assert (placebo.n, placebo.ratio) == (2, pytest.approx((1.4 * 0.8) ** (1 / 2)))
    assert estimate(found, "baseline").mean == pytest.approx(20)


def test_a_ladder_and_a_claim_start_from_what_the_table_compares_with(run: Path) -> None:
    found = summarised(
        run,
        *((level, block, 10.0 + block * (level == "placebo")) for level in ("baseline", "placebo") for block in (1, 2)),
        *(("otel-manual", block, 14.0 + block) for block in (1, 2)),
        *(("otel-agent", block, 20.0 + block) for block in (1, 2)),
    )
    view = Waterfall(kind="waterfall", title="x", levels=("baseline", "otel-manual", "otel-agent"))
    steps = climb_ladder(found, view, seed=1).climbs[0].steps
    assert steps[0].added is not None
    assert steps[0].added.mean == pytest.approx(estimate(found, "otel-manual").difference)
    test = {"kind": "order", "metrics": [CPU], "lower": ["baseline"], "higher": ["otel-agent"], "because": "x"}
    claims = {"X": {"says": "dearer", "tests": [test]}}
    study = Study.model_validate(
        {"name": "s", "format": "tollbooth.claims", "version": 1, "source": "x", "claims": claims}
    )
    (part,) = judge(found, [study], seed=1).claims[0].parts
    assert part.estimate == pytest.approx(estimate(found, "otel-agent").ratio)


def test_a_level_without_any_pair_is_inconclusive(run: Path) -> None:
    row = estimate(summarised(run, ("baseline", 0, 10.0), ("otel-agent", 1, 15.0)), "otel-agent")
    assert (row.n, row.ratio, row.finding) == (0, None, "inconclusive")


def test_levels_without_a_baseline_have_means_only(run: Path) -> None:
    row = estimate(summarised(run, ("otel-agent", 0, 15.0), ("otel-agent", 1, 15.0)), "otel-agent")
    assert (row.mean, row.ratio, row.finding) == (15.0, None, None)


def test_a_run_without_trials_is_empty_and_no_crash(tmp_path: Path, run: Path) -> None:
    (tmp_path / "manifest.json").write_text((run / "manifest.json").read_text())
    summary = analyse(tmp_path)
    assert summary.estimates == []
    assert {level.trials for level in summary.levels.values()} == {0}
    print_summary(summary, Console(width=100, quiet=True))


def test_a_folder_that_is_no_run_is_a_users_mistake(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"manifest\.json is missing"):
        analyse(tmp_path)


def test_an_experiment_of_another_lab_is_a_users_mistake(tmp_path: Path) -> None:
    manifest = {"format": "tollbooth.manifest", "version": 2, "spec": {"title": "?"}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(UserError, match="its experiment is not one that this lab knows"):
        analyse(tmp_path)


def printed(summary: Summary, width: int = 100) -> list[str]:
    text = io.StringIO()
    print_summary(summary, Console(width=width, file=text))
    return text.getvalue().splitlines()


def test_the_table_has_a_row_per_level_and_the_rejected_trials(summary: Summary) -> None:
    lines = printed(summary)
    assert max(map(len, lines)) <= 100
    for level in summary.levels:
        assert any(line.strip().startswith(level) for line in lines)
    agent = next(line for line in lines if line.strip().startswith("otel-agent"))
    found = estimate(summary, "otel-agent")
    assert f"{found.ratio:.2f} ({found.ratio_low:.2f} to {found.ratio_high:.2f}) higher" in agent
    assert any(line.strip().startswith("noise floor") and "±" in line for line in lines)
    assert any(line.startswith("rejected ") and "the host stole 9 %" in line for line in lines)


def test_a_table_explains_the_noise_floor_only_where_a_placebo_shows_it(summary: Summary) -> None:
    alone = summary.model_copy(
        update={"levels": {name: level for name, level in summary.levels.items() if name != summary.placebo}}
    )
    assert "Noise floor: " in "".join(printed(summary))
    assert "noise floor" not in "".join(printed(alone)).lower()


def test_the_table_stays_readable_where_nothing_has_an_interval(tmp_path: Path) -> None:
    lines = printed(analyse(write_results(tmp_path, blocks=1, rejected=False)))
    agent = next(line for line in lines if line.strip().startswith("otel-agent"))
    assert "inconclusive" in agent
    assert "None" not in "".join(lines) and "nan" not in "".join(lines)
