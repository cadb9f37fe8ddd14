"""Runs of one design together: coverage, the rules, the messages, the table."""

import io
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from lab.analysis.runs import combine, mean_over_runs, prediction
from lab.command.runs import read_run, reject_other_designs
from lab.errors import UserError
from lab.record import write_combined
from lab.record.combined import Combined, CombinedEstimate
from lab.record.files import read_json
from lab.report.runs import combined_tables, remarks
from lab.report.terminal import print_lines, print_tables
from tests.command_line import one_line
from tests.forked import lab
from tests.labs import ROOT
from tests.several_runs import CPU, RATIOS, run, write

EXPECTED = ROOT / "tests" / "expected"
STUDIES = 20_000
BETWEEN_RUNS, WITHIN_A_RUN = 0.02, 0.01


def simulated(runs: int) -> np.ndarray:
    """Return log ratios, a row per study: each run has a true ratio of its own and an error of its own."""
    rng = np.random.default_rng(runs)
    truth = rng.normal(math.log(1.3), BETWEEN_RUNS, (STUDIES, runs))
    return truth + rng.normal(0, WITHIN_A_RUN, truth.shape)


@pytest.mark.parametrize("runs", [2, 3, 4, 6, 10])
def test_the_interval_of_the_mean_covers_the_true_mean(runs: int) -> None:
    covered = 0
    for study in simulated(runs):
        found = mean_over_runs(study, 0.95)
        assert found.low is not None and found.high is not None
        covered += found.low <= math.log(1.3) <= found.high
    assert 0.94 <= covered / STUDIES <= 0.96


@pytest.mark.parametrize("runs", [6, 7, 10])
def test_the_prediction_interval_covers_the_next_run(runs: int) -> None:
    covered = 0
    for *study, following in simulated(runs + 1):
        low, high = prediction(study, 0.95)
        covered += low <= following <= high
    assert 0.94 <= covered / STUDIES <= 0.96


def test_the_formulas_on_numbers_that_can_be_checked_by_hand() -> None:
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]  # s² = 3.5, t(5) = 2.5706
    found = mean_over_runs(values, 0.95)
    assert found.mean == 3.5
    assert found.high == pytest.approx(3.5 + 2.5706 * math.sqrt(3.5 / 6), abs=1e-4)
    assert prediction(values, 0.95)[1] == pytest.approx(3.5 + 2.5706 * math.sqrt(3.5 * (1 + 1 / 6)), abs=1e-4)
    with pytest.raises(ValueError, match="two runs"):
        prediction([1.0], 0.95)
    with pytest.raises(ValueError, match="one run"):
        mean_over_runs([], 0.95)


def row(combined: Combined, level: str, metric: str = CPU) -> CombinedEstimate:
    (found,) = [one for one in combined.estimates if (one.level, one.metric) == (level, metric)]
    return found


def test_the_mean_is_unweighted_and_of_the_logarithms() -> None:
    runs = [run(1, blocks=12, noise=0.001), run(2, blocks=2, noise=0.05), run(3)]
    ratios = [one.ratio for each in runs for one in each.summary.estimates
              if (one.metric, one.level) == (CPU, "otel-agent") and one.ratio]  # fmt: skip
    found = row(combine(runs), "otel-agent")
    assert found.ratio == pytest.approx(math.exp(np.log(ratios).mean()))
    assert found.log_ratio_sd == pytest.approx(np.log(ratios).std(ddof=1))
    assert [value.ratio for value in found.runs] == ratios
    assert found.n == 3
    assert row(combine(runs), "baseline").ratio is None


def test_six_runs_hours_apart_predict_the_next() -> None:
    combined = combine([run(number) for number in range(1, 7)])
    found = row(combined, "otel-agent")
    assert combined.no_prediction is None
    assert None not in (found.next_low, found.next_high, found.ratio_low, found.ratio_high)
    assert found.next_low < found.ratio_low < found.ratio_high < found.next_high  # type: ignore[operator]


@pytest.mark.parametrize(
    ("runs", "hours", "reason"),
    [
        (5, 4, "5 runs: a prediction interval needs six, started at least 3 h apart"),
        (2, 4, "2 runs: a prediction interval needs six, started at least 3 h apart"),
        (
            6,
            2.5,
            "6 runs: a prediction interval needs them started at least 3 h apart; 2026-11-20 06:00 and "
            "2026-11-20 08:30 are 150 min apart",
        ),
    ],
)
def test_why_there_is_no_prediction_is_said(runs: int, hours: float, reason: str) -> None:
    # Their order on the command line is not that in time.
    combined = combine([run(number, hours=hours) for number in reversed(range(1, runs + 1))])
    assert combined.no_prediction == reason
    assert {one.next_low for one in combined.estimates} == {None}
    assert f"{reason}." in remarks(combined)


def test_a_run_with_many_rejected_blocks_is_counted_and_left_out() -> None:
    combined = combine([run(1), run(2, rejected={1: "otel-agent"}), run(3), run(4, blocks=10, rejected={0: "placebo"})])
    assert [(one.blocks, one.rejected_blocks) for one in combined.runs] == [(3, 0), (3, 1), (3, 0), (10, 1)]
    assert [one.left_out for one in combined.runs] == [None, "1 of 3 blocks rejected", None, None]
    assert row(combined, "otel-agent").n == 3
    said = remarks(combined)
    assert "Rejected trials, over all runs: placebo 1, otel-agent 1." in said
    assert any(
        line.startswith("Left out: 2026-11-20T100000Z (1 of 3 blocks rejected). A run counts if") for line in said
    )


def test_blocks_that_had_not_settled_are_counted_and_a_run_with_many_of_them_is_left_out() -> None:
    combined = combine(
        [
            run(1, blocks=6),
            run(2, blocks=6, not_settled=[0, 1, 2]),
            run(3, blocks=6, not_settled=[0, 1, 2, 3]),
            # A block that was rejected is not counted twice.
            run(4, blocks=10, rejected={0: "placebo"}, not_settled=[0, 1]),
        ]
    )
    counted = [(one.blocks, one.rejected_blocks, one.not_settled_blocks) for one in combined.runs]
    assert counted == [(6, 0, 0), (6, 0, 3), (6, 0, 4), (10, 1, 1)]
    assert [one.left_out for one in combined.runs] == [None, None, "4 of 6 blocks not settled", None]
    assert row(combined, "otel-agent").n == 3
    lines = shown(combined)
    assert lines[1].endswith("Blocks Rejected Not settled Counts")
    assert [line.split()[-4:] for line in lines[2:6]] == [
        ["6", "0", "0", "yes"],
        ["6", "0", "3", "yes"],
        ["6", "0", "4", "no"],
        ["10", "1", "1", "yes"],
    ]
    assert any(line.startswith("Left out: 2026-11-20T140000Z (4 of 6 blocks not settled).") for line in lines)


def test_a_trial_that_was_rejected_only_with_its_set_is_not_counted_for_its_level() -> None:
    combined = combine([run(1, blocks=10, rejected={4: "otel-agent"}, whole_sets=True), run(2)])
    assert combined.runs[0].rejected == {"baseline": 0, "placebo": 0, "otel-manual": 0, "otel-agent": 1}
    assert (combined.runs[0].rejected_blocks, combined.runs[0].left_out) == (1, None)
    assert "Rejected trials, over all runs: otel-agent 1." in remarks(combined)


def test_a_run_without_any_block_is_left_out() -> None:
    combined = combine([run(1), run(2, blocks=0), run(3)])
    assert [(one.blocks, one.left_out) for one in combined.runs] == [(3, None), (0, "no block was measured"), (3, None)]
    assert row(combined, "otel-agent").n == 2
    with pytest.raises(ValueError, match=r"0 of 2 runs can be used, two are needed; .* \(no block was measured\)"):
        combine([run(number, blocks=0) for number in (1, 2)])


def test_a_mean_within_the_margin_that_is_known_to_differ_is_not_called_the_same() -> None:
    combined = combine([run(number, RATIOS | {"placebo": 1.02}, noise=0.001) for number in (1, 2, 3)])
    assert row(combined, "placebo").finding == "same within margin"
    (found,) = [cells[-1].finding for cells in combined_tables(combined)[1].rows if cells[0].value == "placebo"]
    assert found is not None
    assert (found.word, found.symbol) == ("differs by less than 5 %", "≈")


def test_too_few_runs_are_an_error_that_says_which_were_left_out() -> None:
    with pytest.raises(ValueError, match=r"1 of 2 runs can be used, two are needed; .* \(1 of 3 blocks rejected\)"):
        combine([run(1), run(2, rejected={0: "otel-agent"})])


def test_what_the_runs_do_not_share_is_named() -> None:
    one, other = run(1), run(2)
    other.manifest["machine"]["kernel"] = "7.0"
    other.manifest["machine"]["load_average_1m"] = 99.0
    combined = combine([one, other])
    assert combined.differences == ["machine.kernel"]
    assert "The runs do not share: machine.kernel." in remarks(combined)


def test_designs_may_differ_in_seed_wording_and_what_ends_a_run() -> None:
    one, other = run(1), run(2)
    other.manifest["spec"] |= {"title": "another", "question": "another"}
    other.manifest["spec"]["protocol"] |= {"seed": 9, "repetitions": 30, "half_width": 0.01, "budget_min": 1.0}
    reject_other_designs([one, other], [Path("one"), Path("other")])


@pytest.mark.parametrize("part", ["spec", "topology"])
def test_other_designs_are_rejected_and_the_first_difference_is_named(part: str) -> None:
    one, other = run(1), run(2)
    if part == "spec":
        own = one.manifest["spec"]["load"]["schedule"]["requests"]
        other.manifest["spec"]["load"]["schedule"]["requests"] = own + 5
        named = f"spec.load.schedule.requests is {own} and {own + 5}"
    else:
        other.manifest["topologies"]["duo-short"]["nodes"]["a1"]["kind"] = "svc-b"
        named = "topologies.duo-short.nodes.a1.kind is 'svc-a' and 'svc-b'"
    with pytest.raises(UserError) as rejected:
        reject_other_designs([one, other], [Path("one"), Path("other")])
    assert rejected.value.message == f"one and other have different designs: {named}"
    assert rejected.value.hint == "compare them instead: lab compare one other"


@pytest.mark.parametrize(("value", "same"), [(0, True), ({}, True), (False, True), (5, False)])
def test_what_an_older_run_does_not_record_was_off_in_it(value: object, same: bool) -> None:
    older, newer = run(1), run(2)
    newer.manifest["spec"]["load"]["schedule"]["newer_field"] = value
    if same:
        reject_other_designs([older, newer], [Path("older"), Path("newer")])
        return
    with pytest.raises(UserError, match=r"spec\.load\.schedule\.newer_field"):
        reject_other_designs([older, newer], [Path("older"), Path("newer")])


def test_what_is_recorded_only_where_it_is_off_is_a_difference() -> None:
    one, other = run(1), run(2)
    other.manifest["spec"]["protocol"]["placebo"] = False
    with pytest.raises(UserError, match=r"spec\.protocol\.placebo is True and False"):
        reject_other_designs([one, other], [Path("one"), Path("other")])


def test_what_a_level_turns_off_is_a_difference() -> None:
    one, other = run(1), run(2)
    other.manifest["spec"]["factors"]["telemetry"]["otel-agent"]["wait_out_durations"] = False
    with pytest.raises(UserError, match=r"spec\.factors\.telemetry\.otel-agent\.wait_out_durations"):
        reject_other_designs([one, other], [Path("one"), Path("other")])


def test_one_run_twice_is_an_error() -> None:
    one = run(1)
    with pytest.raises(UserError, match="kept and latest are the same run"):
        reject_other_designs([one, replace(one, name="kept")], [Path("kept"), Path("latest")])
    reject_other_designs([one, run(2)], [Path("one"), Path("other")])


def shown(combined: Combined) -> Sequence[str]:
    out = io.StringIO()
    console = Console(file=out, width=100)
    print_tables(combined_tables(combined), console)
    print_lines(remarks(combined), console)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_the_table_of_three_runs() -> None:
    runs = [run(1), run(2, RATIOS | {"otel-manual": 1.18, "otel-agent": 1.40}), run(3)]
    assert shown(combine(runs)) == (EXPECTED / "combined-three.txt").read_text().splitlines()


def test_the_table_of_six_runs() -> None:
    assert (
        shown(combine([run(number) for number in range(1, 7)]))
        == (EXPECTED / "combined-six.txt").read_text().splitlines()
    )


def written(path: Path) -> Combined:
    return Combined.model_validate(read_json(path, "tollbooth.combined", 1))


def test_the_record_has_what_was_combined(tmp_path: Path) -> None:
    combined = combine([run(1), run(2)])
    write_combined(tmp_path / "combined.json", combined)
    assert written(tmp_path / "combined.json").model_dump(mode="json") == combined.model_dump(mode="json")


def test_a_record_from_before_margin_and_settling_were_recorded_is_read() -> None:
    combined = combine([run(1), run(2)]).model_dump(mode="json")
    old = {name: value for name, value in combined.items() if name != "equivalence_margin"}
    old["runs"] = [
        {name: value for name, value in one.items() if name != "not_settled_blocks"} for one in combined["runs"]
    ]
    assert Combined.model_validate(old).model_dump(mode="json") == combined


def test_an_unfinished_run_and_one_that_was_not_analysed_are_named(tmp_path: Path) -> None:
    unfinished = write(replace(run(1), manifest=run(1).manifest | {"finished": None}), tmp_path)
    with pytest.raises(UserError, match="is not finished"):
        read_run(unfinished)
    unanalysed = write(run(2), tmp_path)
    (unanalysed / "summary.json").unlink()
    with pytest.raises(UserError, match="was not analysed") as missing:
        read_run(unanalysed)
    assert missing.value.hint.startswith("analyse it first: lab analyse ")
    of_version_1 = write(replace(run(3), manifest=run(3).manifest | {"version": 1}), tmp_path)
    with pytest.raises(UserError, match="version 1") as old:
        read_run(of_version_1)
    assert "lab migrate" in old.value.hint


def test_the_command(tmp_path: Path) -> None:
    folders = [str(write(run(number), tmp_path)) for number in (1, 2, 3)]
    done = lab("combine", *folders, "--json", str(tmp_path / "combined.json"))
    assert done.returncode == 0, done.stderr
    assert "3 runs: a prediction interval needs six, started at least 3 h apart." in done.stdout
    assert len(written(tmp_path / "combined.json").runs) == 3
    assert one_line(lab("combine", folders[0])).endswith("1 of 1 runs can be used, two are needed")
    assert one_line(lab("combine", folders[0], folders[0])).endswith("are the same run")
    assert "is not a results folder" in one_line(lab("combine", folders[0], str(tmp_path)))
    without_blocks = [str(write(run(number, blocks=0), tmp_path)) for number in (4, 5)]
    assert "(no block was measured)" in one_line(lab("combine", *without_blocks))
    assert "lab combine RUN RUN RUN" in lab("combine", "--help").stdout
