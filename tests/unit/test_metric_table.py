"""`lab table --metric`: all numbers of one measure, and a wrong name reported in one line."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from lab.errors import UserError
from lab.record.summary import read_summary
from lab.report.terminal import print_metric_of
from tests.command_line import one_line
from tests.forked import lab

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
SIDE_BY_SIDE, RESILIENCE = RESULTS / "side-by-side", RESULTS / "sidecar-resilience"


def printed(folder: Path, metric: str) -> list[str]:
    out = io.StringIO()
    print_metric_of(folder, metric, Console(file=out, width=100))
    return out.getvalue().splitlines()


def test_a_levels_row_has_mean_difference_ratio_and_half_width() -> None:
    (row,) = [line for line in printed(SIDE_BY_SIDE, "cpu_per_request_services_ms") if line.startswith("otel-agent ")]
    (agent,) = [
        estimate
        for estimate in read_summary(SIDE_BY_SIDE / "summary.json").estimates
        if (estimate.metric, estimate.level) == ("cpu_per_request_services_ms", "otel-agent")
    ]
    assert agent.ratio and agent.ratio_low and agent.ratio_high and agent.difference
    for shown in (
        f" {agent.mean:.1f} ± ",
        f"+{agent.difference:.1f} (",
        f"{agent.ratio:.2f} ({agent.ratio_low:.2f} to {agent.ratio_high:.2f})",
        f" {50 * (agent.ratio_high - agent.ratio_low):.1f} higher",
    ):
        assert shown in row


def test_a_measure_that_may_be_nothing_has_no_columns_of_ratios() -> None:
    assert "±" not in "".join(printed(RESILIENCE, "error_fraction"))


def test_nothing_is_cut_at_a_hundred_columns() -> None:
    summary = read_summary(SIDE_BY_SIDE / "summary.json")
    for metric in summary.metrics:
        assert "…" not in "".join(printed(SIDE_BY_SIDE, metric)), metric


def test_a_wrong_measure_is_reported_with_the_right_one() -> None:
    with pytest.raises(UserError) as raised:
        printed(SIDE_BY_SIDE, "cpu_per_request_service_ms")
    assert "did you mean 'cpu_per_request_services_ms'?" in raised.value.hint


def test_the_command_prints_it() -> None:
    said = lab("table", str(SIDE_BY_SIDE), "--metric", "startup_s")
    assert said.returncode == 0
    assert said.stdout.startswith("Start-up")
    assert "'startup_ms'" in one_line(lab("table", str(SIDE_BY_SIDE), "--metric", "startup_ms"))
