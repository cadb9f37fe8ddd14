"""Two runs compared: manifests, then ratios of ratios."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lab.analysis.designs import of_manifests
from lab.analysis.stats.intervals import Interval
from lab.analysis.stats.serial import independent
from lab.analysis.stats.ttests import welch
from lab.analysis.two_runs import Compared, compare_runs, log_ratios_of, quotient
from lab.report.runs import contrast_table
from tests.command_line import one_line
from tests.forked import lab
from tests.several_runs import CPU, RATIOS, run, write

STUDIES = 4_000


def test_the_block_values_are_those_of_the_summarys_ratio() -> None:
    summary = run(1, blocks=5).summary
    for level in RATIOS:
        (row,) = [one for one in summary.estimates if (one.metric, one.level) == (CPU, level)]
        assert math.exp(np.mean(log_ratios_of(summary, CPU, level))) == pytest.approx(row.ratio, rel=1e-12)


def test_welchs_interval_covers_the_truth() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for one, other in zip(rng.normal(0.1, 0.02, (STUDIES, 4)), rng.normal(0.2, 0.05, (STUDIES, 6)), strict=True):
        found = quotient(list(one), list(other), 0.95)
        assert found.low is not None and found.high is not None
        covered += found.low <= math.exp(0.1) <= found.high
    assert 0.94 <= covered / STUDIES <= 0.96


def half(found: Interval | None) -> float:
    """Half of the interval, of the logarithm."""
    assert found is not None and found.low is not None and found.high is not None
    return math.log(found.high / found.low) / 2


LOGS, OTHERS = [0.10, 0.13, 0.09, 0.12, 0.11], [0.14, 0.15, 0.12, 0.16]


def test_without_correlation_the_interval_is_welchs() -> None:
    found, classical = quotient(LOGS, OTHERS, 0.95), welch(OTHERS, LOGS, 0.95)
    assert math.log(found.mean) == pytest.approx(classical.difference)
    assert half(found) == pytest.approx((classical.high - classical.low) / 2)
    assert found.p_value == pytest.approx(classical.p_value)


def test_correlated_blocks_of_one_side_widen_the_interval_as_within_a_run() -> None:
    factor, freedom = independent(len(LOGS), 0.5)
    error = math.sqrt(factor * np.var(LOGS, ddof=1) / len(LOGS))
    # The other side does not vary, so that the whole error is of the first.
    found = quotient(LOGS, [0.0] * 4, 0.95, (0.5, 0.0))
    assert half(found) == pytest.approx(stats.t.ppf(0.975, freedom) * error)
    assert half(quotient([0.0] * 4, LOGS, 0.95, (0.0, 0.5))) == pytest.approx(half(found))


def test_two_runs_with_correlated_blocks_are_compared_with_wider_intervals() -> None:
    one, other = run(1, blocks=8).summary, run(2, blocks=8).summary
    correlated = [each.model_copy(update={"block_correlation": {CPU: 0.5}}) for each in (one, other)]
    for plain, wider in zip(compare_runs(one, other, CPU), compare_runs(*correlated, CPU), strict=True):
        assert half(wider.quotient) > 1.3 * half(plain.quotient)


def test_a_level_that_differs_is_distinguished_from_equal_ones() -> None:
    one = run(1, blocks=8).summary
    other = run(2, RATIOS | {"otel-agent": 1.55}, blocks=8).summary
    found = {row.level: row for row in compare_runs(one, other, CPU)}
    assert list(found) == ["placebo", "otel-manual", "otel-agent"]
    assert found["otel-agent"].word == "differs"
    assert found["otel-agent"].quotient is not None
    assert found["otel-agent"].quotient.mean == pytest.approx(1.55 / 1.35, rel=0.02)
    assert found["otel-manual"].word == "inconclusive"


def test_the_margin_of_two_runs_is_that_of_overheads() -> None:
    """5 % of a ratio of 1.15 would be a third of what it adds."""
    one, other = (
        run(seed, {"placebo": 1.0, "otel-manual": ratio}, noise=0.001).summary
        for seed, ratio in ((1, 1.15), (2, 1.152))
    )
    found = {row.level: row for row in compare_runs(one, other, CPU)}
    assert found["otel-manual"].word == "same within margin"
    other = run(2, {"placebo": 1.0, "otel-manual": 1.17}, noise=0.001).summary
    assert {row.word for row in compare_runs(one, other, CPU) if row.level == "otel-manual"} == {"differs"}


def test_overheads_within_the_margin_that_are_known_to_differ_are_not_called_the_same() -> None:
    one, other = (
        run(seed, {"placebo": 1.0, "otel-manual": ratio}, blocks=8, noise=0.0005).summary
        for seed, ratio in ((1, 2.0), (2, 2.02))
    )

    def shown(rows: Sequence[Compared]) -> tuple[str, str]:
        (found,) = [
            cells[-1].finding
            for cells in contrast_table(one, CPU, rows, ("first", "second")).rows
            if cells[0].value == "otel-manual"
        ]
        assert found is not None
        return found.word, found.symbol

    assert shown(compare_runs(one, other, CPU)) == ("differs by less than 5 % of the overhead", "≈")
    assert shown(compare_runs(one, one, CPU)) == ("same within margin", "=")


def test_noisy_runs_are_inconclusive_and_one_block_has_no_interval() -> None:
    noisy = compare_runs(run(1, noise=0.2).summary, run(2, noise=0.2).summary, CPU)
    assert {row.word for row in noisy} == {"inconclusive"}
    single = compare_runs(run(1, blocks=1).summary, run(2).summary, CPU)
    assert {(row.word, row.quotient.low if row.quotient else 0) for row in single} == {("inconclusive", None)}


def test_p_values_are_corrected_for_the_number_of_levels() -> None:
    """A difference that one comparison alone would call found, and three would not."""
    one, other = run(1, blocks=3, noise=0.02).summary, run(3, RATIOS | {"otel-agent": 1.43}, noise=0.02).summary
    found = {row.level: row for row in compare_runs(one, other, CPU)}
    alone = found["otel-agent"].quotient
    assert alone is not None and alone.p_value is not None
    assert 0.05 / 3 < alone.p_value < 0.05
    assert found["otel-agent"].word == "inconclusive"


def test_manifests_differ_in_experiment_machine_and_commit_but_not_in_seeds_and_times() -> None:
    one, other = run(1), run(2)
    other.manifest["seed"] = other.manifest["spec"]["protocol"]["seed"] = 7
    other.manifest["spec"]["protocol"]["repetitions"] = 9
    other.manifest["machine"] |= {"cores": 8, "memory_bytes": 1, "kernel": "7", "cgroup_version": 2}
    other.manifest["machine"]["disk_free_bytes"] = 1
    other.manifest["versions"]["java"] = "26"
    other.manifest["git"]["revision"] = "0" * 40
    del other.manifest["images"]["sink"]
    other.manifest["command"] = "lab run other"
    assert [one.path for one in of_manifests(one.manifest, other.manifest)] == [
        "spec.protocol.repetitions", "machine.cores", "machine.memory_bytes", "machine.kernel",
        "machine.cgroup_version", "versions.java", "images.sink", "git.revision",
    ]  # fmt: skip


def test_the_command_shows_manifests_before_numbers_and_what_is_missing(tmp_path: Path) -> None:
    first = write(run(1, blocks=4), tmp_path)
    done = lab("compare", "docs/results/side-by-side", str(first))
    assert done.returncode == 0, done.stderr
    parts = [
        "Differences of the manifests",
        "spec.load.generator",
        "images.services",
        "CPU per request, services: ratio to the baseline",
        "second / first",
        "Levels that only the first run has: zipkin-zipkin, zipkin-jaeger, otel-agent-metrics,",
    ]
    places = [done.stdout.index(part) for part in parts]
    assert places == sorted(places)
    assert "Measures that only the first run has: Latency, 95th percentile" in done.stdout


def test_a_run_compared_with_itself_has_no_differences(tmp_path: Path) -> None:
    folder = str(write(run(1), tmp_path))
    done = lab("compare", folder, folder)
    assert "none, besides the seed and the times" in done.stdout
    assert "differs" not in done.stdout.replace("Differences", "")


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    folder = str(write(run(1), tmp_path))
    assert "is not a results folder" in one_line(lab("compare", folder, "lab"))
    assert "Missing argument" in one_line(lab("compare", folder))
    assert "lab compare docs/results/quick results/quick/latest" in " ".join(lab("compare", "--help").stdout.split())
