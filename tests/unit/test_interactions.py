"""Crossed factors whose interaction is known."""

import numpy as np
import pytest

from lab.analysis.stats.compare import interactions

AGENT, MANUAL, NONE = "agent", "manual", "none"
FULL, HALF = "full", "half"
Cells = dict[tuple[str, str], dict[int, float]]


def cells(interaction: float, blocks: int = 40, noise: float = 0.01) -> Cells:
    """Make blocks that share a drift; the agent costs 1.5 times, half the load 0.8 times, both `interaction` more."""
    rng = np.random.default_rng(3)
    truth = {
        (NONE, FULL): 40.0,
        (MANUAL, FULL): 48.0,
        (AGENT, FULL): 60.0,
        (NONE, HALF): 32.0,
        (MANUAL, HALF): 38.4,
        (AGENT, HALF): 48.0 * interaction,
    }
    drift = np.exp(rng.normal(0, 0.5, blocks))
    return {
        cell: {block: value * drift[block] * float(np.exp(rng.normal(0, noise))) for block in range(blocks)}
        for cell, value in truth.items()
    }


def test_an_interaction_is_found_and_its_absence_too() -> None:
    found = interactions(cells(1.2), (NONE, FULL), 0.95, 1)
    assert set(found) == {(MANUAL, HALF), (AGENT, HALF)}
    agent, manual = found[AGENT, HALF], found[MANUAL, HALF]
    assert agent.ratio is not None
    assert manual.ratio is not None
    assert agent.ratio.mean == pytest.approx(1.2, rel=0.01)
    assert agent.finding(agent.p_value, 0.05, 0.05) == "higher"
    assert manual.finding(manual.p_value, 0.05, 0.05) == "same within margin"


def test_it_is_the_same_from_whichever_side_it_is_seen() -> None:
    made = cells(1.2)
    turned = {(b, a): blocks for (a, b), blocks in made.items()}
    one = interactions(made, (NONE, FULL), 0.95, 1)[AGENT, HALF].ratio
    other = interactions(turned, (FULL, NONE), 0.95, 1)[HALF, AGENT].ratio
    assert one is not None
    assert other is not None
    assert one.mean == pytest.approx(other.mean)
    assert one.low == pytest.approx(other.low)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(1000):
        made = {
            (a, b): {block: float(np.exp(rng.normal(0, 0.03))) for block in range(5)}
            for a in (NONE, AGENT)
            for b in (FULL, HALF)
        }
        ratio = interactions(made, (NONE, FULL), 0.95, 1)[AGENT, HALF].ratio
        assert ratio is not None
        assert ratio.low is not None
        assert ratio.high is not None
        hits += ratio.low <= 1 <= ratio.high
    assert 0.93 <= hits / 1000 <= 0.97


def test_only_blocks_with_all_four_cells_count() -> None:
    made = cells(1.0, blocks=5)
    del made[NONE, HALF][0]
    del made[AGENT, FULL][1]
    assert interactions(made, (NONE, FULL), 0.95, 1)[AGENT, HALF].n == 3


def test_what_is_not_positive_has_no_ratio() -> None:
    made = cells(1.0, blocks=3)
    made[NONE, FULL] = dict.fromkeys(range(3), 0.0)
    assert interactions(made, (NONE, FULL), 0.95, 1) == {}
