"""Orders of alternating rounds and their times."""

from collections import Counter
from itertools import chain, pairwise

import pytest

from lab.record import SECOND_NS
from lab.run.turns import DRAIN_S, Timeline, in_squares, orders, whole_squares, williams_square

SIZES = [2, 3, 4, 5, 8, 12]


@pytest.mark.parametrize("size", SIZES)
def test_each_system_has_each_place_equally_often(size: int) -> None:
    square = williams_square(size)
    for place in range(size):
        assert set(Counter(order[place] for order in square).values()) == {len(square) // size}


@pytest.mark.parametrize("size", SIZES)
def test_each_system_follows_each_other_one_equally_often(size: int) -> None:
    square = williams_square(size)
    followed = Counter(chain.from_iterable(map(pairwise, square)))
    assert len(followed) == size * (size - 1)
    assert set(followed.values()) == {len(square) // size}


def test_a_seed_draws_the_same_orders_and_each_square_is_balanced() -> None:
    drawn = list(orders(4, 8, 7))
    assert drawn == list(orders(4, 8, 7))
    assert drawn != list(orders(4, 8, 8))
    for square in (drawn[:4], drawn[4:]):
        assert all(sorted(order[place] for order in square) == [0, 1, 2, 3] for place in range(4))


@pytest.mark.parametrize(
    ("size", "round_s", "measure_s", "rounds"), [(4, 5, 60, 12), (4, 9, 60, 8), (4, 100, 60, 4), (3, 5, 60, 12)]
)
def test_rounds_are_whole_squares(size: int, round_s: float, measure_s: float, rounds: int) -> None:
    assert whole_squares(size, round_s, measure_s) == rounds


def test_slices_follow_one_another_with_gaps() -> None:
    timeline = Timeline([[1, 0], [0, 1]], first_ns=1_000_000_000_000, slice_ns=100, gap_ns=10, apart_ns=110)
    turns = sorted((*timeline.turns(0), *timeline.turns(1)), key=lambda turn: turn.start_ns)
    assert [turn.start_ns - timeline.first_ns for turn in turns] == [0, 110, 220, 330]
    assert all(
        before.next_ns == after.start_ns and before.end_ns + 10 == after.start_ns for before, after in pairwise(turns)
    )
    assert timeline.last_ns == turns[-1].next_ns
    assert [turn.position for turn in timeline.turns(0)] == [1, 0]
    assert timeline.loaded_ns == 4 * 100


def test_interleaved_slices_of_a_round_overlap_and_rounds_do_not() -> None:
    timeline = Timeline([[1, 0], [0, 1]], first_ns=1_000_000_000_000, slice_ns=100, gap_ns=10, apart_ns=5)
    assert [turn.start_ns - timeline.first_ns for turn in timeline.turns(0)] == [5, 115]
    assert [turn.start_ns - timeline.first_ns for turn in timeline.turns(1)] == [0, 120]
    assert all(turn.next_ns == turn.start_ns + 110 for turn in (*timeline.turns(0), *timeline.turns(1)))
    assert timeline.last_ns == timeline.first_ns + 2 * (5 + 110) == timeline.turns(1)[-1].next_ns
    # A request of each system in turn: the 5 ns are part of the distance from one request to the next.
    assert timeline.loaded_ns == 2 * 100


def test_the_window_ends_with_a_drain_and_idle_time_has_no_slice() -> None:
    timeline = Timeline([[0, 1], [1, 0]], first_ns=1_000_000_000_000, slice_ns=SECOND_NS, gap_ns=0, apart_ns=SECOND_NS)
    drain_ns = round(DRAIN_S * SECOND_NS)
    assert timeline.window.start_ns == timeline.first_ns
    assert timeline.window.end_ns == timeline.last_ns + drain_ns
    assert timeline.idle.end_ns == timeline.first_ns - SECOND_NS
    assert timeline.idle.end_ns - timeline.idle.start_ns == drain_ns


@pytest.mark.parametrize(("size", "wanted", "rounds"), [(4, 60, 60), (4, 61, 64), (5, 60, 60), (5, 61, 70), (3, 1, 6)])
def test_a_number_of_rounds_is_rounded_up_to_complete_squares(size: int, wanted: int, rounds: int) -> None:
    assert in_squares(size, wanted) == rounds
