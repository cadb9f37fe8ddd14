"""`lab check effects`: what a slice costs, and whether it matters when a system has its turn."""

import json
from collections.abc import Callable
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest

from lab.analysis.effects import Effect, half_effects, middles_ns, place_effects, predecessor_effects, slice_costs
from lab.analysis.stats import compare
from lab.record import (
    BackendRecord,
    ContainerRecord,
    Requests,
    Series,
    Slice,
    SliceCost,
    TrialData,
    TrialRecord,
    Window,
)
from lab.record.counters import Counters
from lab.record.files import read_text
from lab.run.turns import williams_square
from tests.command_line import one_line
from tests.forked import lab
from tests.labs import ROOT

LEVELS = ("baseline", "placebo", "otel-manual", "otel-agent")
TRACED = ("otel-manual", "otel-agent")
USUAL_MS = {"baseline": 24.0, "placebo": 24.0, "otel-manual": 28.0, "otel-agent": 34.0}
SECOND_NS = 1_000_000_000


def costs(factor: Callable[[SliceCost], float], sets: int = 3, squares: int = 2) -> list[SliceCost]:
    """Slices of sets in balanced orders, each at its level's usual cost times `factor`, in sets of different speed."""
    found = []
    for number in range(sets):
        before: str | None = None
        for round_, order in enumerate(williams_square(4) * squares):
            for position, system in enumerate(order):
                level = LEVELS[system]
                # Across rounds, orders are not balanced.
                one = SliceCost(number, level, level in TRACED, round_, position, before if position else None, 1.0, 0)
                cpu_ms = USUAL_MS[level] * (1 + 0.1 * number) * factor(one)
                found.append(SliceCost(**{**vars(one), "cpu_ms": cpu_ms}))
                before = level
    return found


def by_name(effects: list[Effect]) -> dict[str, float]:
    return {effect.what: effect.ratio.mean for effect in effects}


def test_equal_slices_have_no_effects() -> None:
    equal = costs(lambda _: 1.0)
    effects = [*place_effects(equal, 1), *predecessor_effects(equal, 1), *half_effects(equal, LEVELS[:2], 1)]
    assert len(effects) == 8 + 4 + 5 + 2
    for effect in effects:
        assert effect.ratio.mean == pytest.approx(1)
        assert (effect.ratio.low, effect.ratio.high) == pytest.approx((1, 1))


def test_a_place_that_costs_more_is_found() -> None:
    effects = place_effects(costs(lambda one: 1.1 if one.position == 2 else 1.0), 1)
    found = by_name(effects)
    assert found["place 3"] == pytest.approx(1.1)
    assert found["place 3, traced"] == pytest.approx(1)
    assert found["place 1"] == pytest.approx(1.1 ** (-1 / 3))


def test_a_place_that_costs_traced_systems_more_is_found() -> None:
    found = by_name(place_effects(costs(lambda one: 1.1 if one.position == 0 and one.traced else 1.0), 1))
    # A place's cost is relative to the mean of all four places, which this one raises too.
    assert found["place 1, traced"] == pytest.approx(1.1 / 1.025)
    assert found["place 2, traced"] == pytest.approx(1 / 1.025)


def test_what_a_system_leaves_to_the_next_is_found() -> None:
    found = by_name(predecessor_effects(costs(lambda one: 1.05 if one.before == "otel-agent" else 1.0), 1))
    assert found["after otel-agent"] == pytest.approx(1.05, abs=0.005)
    assert found["after baseline"] == pytest.approx(1, abs=0.02)
    assert set(found) == {f"after {level}" for level in LEVELS}


def test_a_change_from_the_first_half_to_the_second_is_found() -> None:
    def warmer(one: SliceCost) -> float:
        late = one.round >= 4
        return (0.95 if one.level == "otel-agent" else 0.98) if late else 1.0

    found = by_name(half_effects(costs(warmer), LEVELS[:2], 1))
    assert found["CPU of baseline"] == pytest.approx(0.98)
    assert found["CPU of otel-agent"] == pytest.approx(0.95)
    assert found["ratio of otel-agent"] == pytest.approx(0.95 / 0.98)
    assert found["ratio of otel-manual"] == pytest.approx(1)
    assert found["CPU of all levels"] == pytest.approx((0.98**3 * 0.95) ** 0.25)


def test_the_interval_is_over_sets() -> None:
    late = [
        half_effects(costs(lambda one: 1 + 0.01 * one.set if one.round >= 4 else 1.0, sets), LEVELS[:2], 1)[0].ratio
        for sets in (1, 2, 6)
    ]
    assert late[0].low is None
    assert late[1].low is not None and late[2].low is not None
    assert late[1].low < 1 < late[2].low < late[2].mean == pytest.approx(1.025, abs=0.001)


def trial(level: str, place: int, cost_ms: float, spans: int | None = None) -> TrialData:
    """A system with two slices of 10 requests in two rounds of two systems, each of 1 s and no gap.

    Its counter grows only in its own slices.
    """
    turns = [Slice(round=r, position=place, start_ns=s, end_ns=s, next_ns=s + SECOND_NS) for r, s in starts(place)]
    edges = sorted({t for turn in turns for t in (turn.start_ns, turn.next_ns)})
    used_ns = [
        sum(min(max(t - turn.start_ns, 0), SECOND_NS) for turn in turns) / SECOND_NS for t in (0, *edges, 10**10)
    ]
    values = np.array([round(share * 10 * cost_ms * 1e6) for share in used_ns])
    counter = Series(np.array([0, *edges, 10**10]), values)
    sent = np.array([turn.start_ns + number * 10**8 for turn in turns for number in range(10)])
    zeros = np.zeros(len(sent), dtype=np.int64)
    requests = Requests(zeros, np.full(len(sent), "a1"), sent, sent, sent + 10**7, zeros + 200, zeros, False)
    record = TrialRecord(
        number=place,
        attempt=1,
        block=0,
        position=place,
        level=level,
        settings={},
        slices=turns,
        backend=BackendRecord(accepted_spans=spans, counters={}) if spans else None,
        containers={
            name: ContainerRecord(role=role, image="", restarts=0, oom_killed=False, exit_code=0)
            for name, role in (("a1", "service"), ("sink", "backend"))
        },
        window=Window(load_start_ns=0, start_ns=0, end_ns=10**10),
    )
    containers = {"a1": {"cpu_usage_ns": counter}, "sink": {"cpu_usage_ns": Series(counter.t_ns, values * 5)}}
    counters = Counters(SECOND_NS, containers, {}, (), {}, {}, (), False)
    return TrialData(record, {"requests": {"local": requests}, "counters": {"local": counters}})


def starts(place: int) -> list[tuple[int, int]]:
    return [(r, SECOND_NS * (1 + 2 * r + place)) for r in (0, 1)]


def test_a_slices_cost_is_the_services_cpu_per_request() -> None:
    found = slice_costs([trial("otel-agent", 1, 30.0, spans=123), trial("baseline", 0, 20.0)])
    assert [(one.level, one.before, one.traced) for one in found] == [
        ("baseline", None, False),
        ("otel-agent", "baseline", True),
        ("baseline", "otel-agent", False),
        ("otel-agent", "baseline", True),
    ]
    assert [one.cpu_ms for one in found] == pytest.approx([20, 30, 20, 30])
    assert [(one.round, one.position) for one in found] == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_nothing_of_a_slice_is_lost_between_two_samples() -> None:
    """Turns of 0.3 s every 2 s, and a sample each half second: at a turn's edges the counter is interpolated."""
    given = trial("baseline", 0, 20.0)
    turns = [
        Slice(round=r, position=0, start_ns=s, end_ns=s + 3 * 10**8, next_ns=s + 4 * 10**8)
        for r, s in enumerate(range(2 * SECOND_NS, 8 * SECOND_NS, 2 * SECOND_NS))
    ]
    t_ns = np.arange(0, 10 * SECOND_NS, SECOND_NS // 2) + 10**8
    used = sum(np.clip((t_ns - turn.start_ns) / 3e8, 0, 1) for turn in turns)
    sent = np.array([turn.start_ns + number * 10**7 for turn in turns for number in range(10)])
    counters = replace(
        given.counters, containers={"a1": {"cpu_usage_ns": Series(t_ns, np.round(10 * 20e6 * used).astype(np.int64))}}
    )
    requests = replace(given.requests, intended_ns=sent)
    streams = {"requests": {"local": requests}, "counters": {"local": counters}}
    found = slice_costs([TrialData(given.trial.model_copy(update={"slices": turns}), streams)])
    assert [one.cpu_ms for one in found] == pytest.approx([20, 20, 20])


def test_where_a_trial_is_left_out_nothing_is_known_to_come_before() -> None:
    assert [one.before for one in slice_costs([trial("baseline", 0, 20.0)])] == [None, None]


def interleaved(given: TrialData, after_ns: int) -> TrialData:
    """A system whose slice of 1 s begins so long after that of the round, which has a gap of 0.5 s at its end."""
    turns = [
        turn.model_copy(update={"start_ns": start_ns + after_ns, "next_ns": start_ns + after_ns + 3 * SECOND_NS // 2})
        for turn, (_, start_ns) in zip(given.trial.slices, starts(0), strict=True)
    ]
    return replace(given, trial=given.trial.model_copy(update={"slices": turns}))


def test_interleaved_slices_follow_no_single_one() -> None:
    first, second = (
        interleaved(trial("baseline", 0, 20.0), 0),
        interleaved(trial("otel-agent", 1, 30.0), SECOND_NS // 2),
    )
    assert second.trial.slices[0].next_ns == first.trial.slices[1].start_ns
    found = slice_costs([first, second])
    assert [one.before for one in found] == [None] * 4
    assert predecessor_effects(found, 1) == []


def test_an_interleaved_run_says_nothing_of_the_slice_before() -> None:
    done = lab("check", "effects", str(ROOT / "docs" / "results" / "quick"))
    assert done.returncode == 0, done.stderr
    assert "Place in the round" in done.stdout
    assert "The system that had the slice before" not in done.stdout


def test_what_a_search_for_mbeans_cost_the_agent_is_as_documented() -> None:
    """docs/results/quick-turns.md has these figures."""
    kept = json.loads(read_text(ROOT / "docs" / "results" / "quick-turns" / "slices.json"))["slices"]
    cpu_ms = {(one["level"], one["set"], one["round"]): one["cpu_ms"] for one in kept}
    dear = {0: [2], 1: [6], 2: [6], 3: [5, 6]}

    def mean_ms(level: str, number: int) -> float:
        return fmean(cpu_ms[level, number, round_] for round_ in range(12) if round_ not in dear[number])

    more = [
        cpu_ms["otel-agent", number, one] - mean_ms("otel-agent", number) for number in dear for one in dear[number]
    ]
    assert (min(more), max(more)) == pytest.approx((7, 18), abs=0.5)
    references = [fmean(mean_ms(level, number) for level in ("baseline", "placebo")) for number in dear]
    found = compare([(mean_ms("otel-agent", number), references[number]) for number in dear], 0.95, 1).ratio
    assert found is not None
    assert (found.mean, found.low, found.high) == pytest.approx((1.35, 1.31, 1.38), abs=0.005)


def test_a_kept_run_without_raw_records_is_not_used() -> None:
    assert "raw records" in one_line(lab("check", "effects", str(ROOT / "docs" / "results" / "quick-next-day")))


def test_a_kept_run_with_its_slices_is_used() -> None:
    done = lab("check", "effects", str(ROOT / "docs" / "results" / "quick-turns"))
    assert done.returncode == 0, done.stderr
    assert "place 4, traced the same, not traced 1.010 (0.942 to 1.083)" in done.stdout
    assert "after placebo     after other systems 0.965 (0.953 to 0.978)" in done.stdout


@pytest.mark.parametrize(("end_s", "last_s"), [(10, 4), (3.5, 3.5)])
def test_no_work_is_counted_after_the_window(end_s: float, last_s: float) -> None:
    """Slices at 1 s and 3 s: without the window's end, the last one's work is counted until 4 s."""
    given = trial("baseline", 0, 20.0).trial
    window = Window(load_start_ns=0, start_ns=0, end_ns=round(end_s * SECOND_NS))
    edges = middles_ns(given.model_copy(update={"window": window}))
    assert edges == [0, 2 * SECOND_NS, round(last_s * SECOND_NS)]
