"""Blocks that resemble their neighbours are noticed, and intervals over them are as wide as they have to be."""

import numpy as np
import pytest
from scipy import stats

from lab.analysis.analyse import summarise
from lab.analysis.stats.intervals import mean_interval
from lab.analysis.stats.serial import ALARM, LARGEST, correlation_of, independent, serial_correlation
from lab.record.summary import TrialSummary
from lab.report.findings import remarks
from tests.labs import MESH, parse
from tests.synthetic.coverage import SPEC, correlated, normal

CPU = "cpu_per_request_services_ms"
RUNS = 4_000


def test_independent_blocks_are_worth_what_they_are() -> None:
    assert independent(7, 0.0) == pytest.approx((1, 6))
    values = [4.1, 3.7, 5.2, 4.4, 4.9]
    assert mean_interval(values, 0.95, 1, correlation=0.0) == mean_interval(values, 0.95, 1)


def test_the_factor_makes_s_squared_unbiased_for_the_variance_of_the_mean() -> None:
    values = correlated(0.5)(np.random.default_rng(1), (20_000, 1, 6))[:, 0]
    factor, freedom = independent(6, 0.5)
    estimated = factor * values.var(axis=-1, ddof=1) / 6
    assert estimated.mean() == pytest.approx(values.mean(axis=-1).var(), rel=0.03)
    # Of a χ² with f degrees of freedom, the variance is 2/f of the mean's square.
    assert 2 * estimated.mean() ** 2 / estimated.var() == pytest.approx(freedom, rel=0.05)


@pytest.mark.parametrize(("systems", "blocks"), [(8, 6), (8, 9), (13, 4), (5, 12)])
def test_chance_alone_raises_the_alarm_as_rarely_as_intended(systems: int, blocks: int) -> None:
    found = serial_correlation(normal(np.random.default_rng(2), (RUNS, systems, blocks)))
    assert np.mean(found > 0) == pytest.approx(ALARM, abs=0.025)


def test_so_it_does_where_one_level_is_noisier() -> None:
    values = normal(np.random.default_rng(3), (RUNS, 8, 9))
    values[:, -1] *= 3
    assert np.mean(serial_correlation(values) > 0) == pytest.approx(ALARM, abs=0.025)


@pytest.mark.parametrize("truth", [0.3, 0.6])
def test_with_many_blocks_the_correlation_is_found(truth: float) -> None:
    values = correlated(truth)(np.random.default_rng(4), (200, 8, 40))
    assert serial_correlation(values).mean() == pytest.approx(truth, abs=0.02)
    assert serial_correlation(correlated(0.99)(np.random.default_rng(5), (1, 8, 40))) == pytest.approx(LARGEST)


def test_what_all_levels_of_a_block_share_is_no_correlation() -> None:
    rng = np.random.default_rng(6)
    values = normal(rng, (RUNS, 8, 9))
    drifting = values + np.cumsum(rng.normal(0, 0.2, (RUNS, 1, 9)), axis=-1)
    assert serial_correlation(drifting) == pytest.approx(serial_correlation(values), abs=1e-9)


def levels(blocks: int, systems: int = 8, slope: float = 0.02) -> list[dict[int, float]]:
    """Levels whose values drift apart."""
    steps = np.linspace(-1, 1, systems)
    noise = np.random.default_rng(7).normal(0, 0.001, (systems, blocks))
    return [
        {block: float(np.exp(slope * steps[row] * block + noise[row, block])) for block in range(blocks)}
        for row in range(systems)
    ]


def test_only_complete_blocks_with_logarithms_count_and_few_say_nothing() -> None:
    assert correlation_of(levels(9)) > 0.5
    assert correlation_of(levels(5)) == 0
    assert correlation_of(levels(9, systems=4)) == 0
    assert correlation_of([]) == 0
    missing = levels(9)
    for one in missing:
        for block in range(4):
            del one[block]
    assert correlation_of(missing) == 0
    zero = levels(9)
    zero[0] = dict.fromkeys(zero[0], 0.0)
    assert correlation_of(zero) == 0
    assert correlation_of([dict.fromkeys(range(9), 1.0)] * 8) == 0


def test_a_level_with_few_blocks_hides_nothing() -> None:
    sparse = levels(9, systems=9)
    sparse[3] = {block: value for block, value in sparse[3].items() if block < 3}
    assert correlation_of(sparse) == correlation_of([*sparse[:3], *sparse[4:]])
    assert correlation_of(sparse) > 0.5


@pytest.mark.parametrize(("slope", "seen"), [(0.02, True), (0.0, False)])
def test_a_run_says_so_and_its_intervals_are_wider(slope: float, seen: bool) -> None:
    names = ("baseline", "placebo", *(f"level-{index}" for index in range(6)))
    trials = [
        TrialSummary(trial=f"{block}-{name}", level=name, block=block, valid=True, reasons=[], values={CPU: value})
        for name, values in zip(names, levels(9, slope=slope), strict=True)
        for block, value in values.items()
    ]
    declared = ", ".join(f"{name}: {{telemetry: baseline}}" for name in names[2:])
    spec = parse(SPEC.format(levels=declared, blocks=9, seed=1).replace("side_by_side: true", "side_by_side: false"))
    summary = summarise(spec, MESH, trials)
    assert (CPU in summary.block_correlation) == seen
    said = [remark for remark in remarks(summary) if remark.startswith("Neighbouring blocks are correlated")]
    assert len(said) == seen
    row = next(row for row in summary.estimates if row.level == "placebo")
    assert row.ratio_low is not None and row.ratio_high is not None and row.log_ratio_sd is not None
    classical = stats.t.ppf(0.975, 8) * row.log_ratio_sd / 3
    half = np.log(row.ratio_high / row.ratio_low) / 2
    assert (half > 1.3 * classical) == seen
    assert seen or half == pytest.approx(classical, rel=0.02)
