"""The report's figures: what is drawn is what was recorded, and the SVG fits into a page."""

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from lab.record.data import read_trial
from lab.record.series import Series
from lab.record.summary import Summary
from lab.record.trial import LOCAL
from lab.report.drawings import traces
from lab.report.figures.bars import Group, Planes, Row, forest, planes
from lab.report.figures.curves import spread
from lab.report.figures.latency import Latencies, latency
from lab.report.figures.trials import Span, gantt
from lab.report.numbers import Scale
from lab.report.palette import OTHERS, PALETTE, level_colours
from lab.report.source import Observed, Source, observe, pooled, trace_spans
from tests.report_runs import AWKWARD_NAME
from tests.synthetic import QUICK, Trial, write_trial

COLOURS = level_colours(["baseline", "placebo", AWKWARD_NAME], "baseline", "placebo")
GROUPS = [
    Group(
        "CPU",
        0.03,
        [Row("placebo", 1.0, 0.97, 1.03, "1.00", "inconclusive"), Row(AWKWARD_NAME, 9, 8, 10, "9", "higher")],
    ),
    Group("Memory", None, [Row(AWKWARD_NAME, 0.2, 0.2, 0.2, "0.20", "lower")]),
]


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    folder = tmp_path_factory.mktemp("trial")
    trial = Trial(1, 0, "otel-agent", QUICK["otel-agent"], interval_s=0.1)
    return observe(read_trial(write_trial(folder, trial, np.random.default_rng(1))))


def test_cpu_over_time_adds_up_to_the_cpu_that_was_used(observed: Observed) -> None:
    in_window = observed.cpu.time_s > observed.cpu.window_start_s
    cpu_ms = observed.cpu.services[in_window].mean() * 15_000
    assert cpu_ms / len(observed.from_start_ms) == pytest.approx(QUICK["otel-agent"].cpu_ms, rel=0.05)
    assert observed.cpu.backends is not None
    assert observed.cpu.backends[in_window].mean() < observed.cpu.services[in_window].mean()


def test_the_cpu_of_a_service_that_was_killed_is_never_below_0(tmp_path: Path) -> None:
    data = read_trial(write_trial(tmp_path, Trial(1, 0, "baseline", QUICK["baseline"]), np.random.default_rng(1)))
    (killed, *_), fields = data.trial.measured(), dict[str, Series]()
    for name, one in data.counters.containers[killed].items():
        half = len(one.values) // 2
        fields[name] = Series(
            one.t_ns, np.where(np.arange(len(one.values)) < half, one.values, one.values - one.values[half])
        )
    containers = {**data.counters.containers, killed: fields}
    counters = {LOCAL: replace(data.counters, containers=containers)}
    found = observe(replace(data, streams={**data.streams, "counters": counters}))
    assert found.cpu.services.min() >= 0
    assert found.cpu.services.max() > 0


def test_memory_over_time_ends_at_its_level(observed: Observed) -> None:
    assert observed.memory.services[-1] == pytest.approx(0.95 * QUICK["otel-agent"].memory_mib, rel=0.02)


def test_what_the_jvms_did_over_time_adds_up(observed: Observed) -> None:
    time_s, allocated_mb_per_s = observed.jvm["Allocation (MB/s)"]
    in_window = time_s > observed.cpu.window_start_s
    bytes_per_request = allocated_mb_per_s[in_window].mean() * 15e6 / len(observed.from_start_ms)
    assert bytes_per_request == pytest.approx(QUICK["otel-agent"].allocated_bytes, rel=0.05)
    _, compiling = observed.jvm["JIT compilation (threads busy)"]
    assert np.all(np.diff(compiling) < 0)


def test_ten_samples_a_second_are_thinned_to_one(observed: Observed) -> None:
    assert len(observed.cpu.time_s) == 25


def test_latency_from_the_intended_start_is_never_the_shorter_one(observed: Observed) -> None:
    assert np.all(observed.from_intended_ms >= observed.from_start_ms)


def test_pooled_latencies_keep_their_extremes(observed: Observed) -> None:
    many = pooled("otel-agent", [observed] * 60)
    assert many is not None
    assert len(many.from_start_ms) <= 4000
    assert many.from_start_ms[0] == observed.from_start_ms.min()
    assert many.from_start_ms[-1] == observed.from_start_ms.max()


def test_a_trace_is_ordered_as_its_tree() -> None:
    def span(name: str, parent: str | None, start_ns: int) -> dict[str, object]:
        return {
            "id": name,
            "parent": parent,
            "service": name,
            "kind": "server",
            "start_ns": start_ns,
            "duration_ns": 10,
        }

    spans = [
        span("c", "a", 40),
        span("root", None, 10),
        span("b", "root", 50),
        span("a", "root", 20),
        span("lost", "x", 60),
    ]
    ordered = trace_spans({"spans": spans})
    assert [(one.service, one.depth) for one in ordered] == [("root", 0), ("a", 1), ("c", 2), ("b", 1), ("lost", 0)]
    assert ordered[0].start_ms == 0


def test_traces_of_one_tree_are_drawn_once() -> None:
    def spans(service: str, tags: int) -> list[Span]:
        return [Span("gateway", "server", 0, 10, 0, tags), Span(service, "server", 1, 5, 1, tags)]

    levels = {"manual": spans("a1", 8), "batch-1": spans("a3", 8), "agent": spans("a1", 36)}
    record = {name: {"settings": {}, "trials": 1, "rejected": 0} for name in levels}
    summary = Summary.model_construct(levels=record)
    drawn = traces(Source(summary, {}, [], [], levels, {"agent"}, None))
    assert [(trace.level, trace.alike) for trace in drawn] == [("manual", ["batch-1"]), ("agent", [])]
    assert [trace.second_start for trace in drawn] == [False, True]


def test_labels_keep_their_distance_and_their_order() -> None:
    wanted = [5.0, 1.0, 1.1, 1.05, 9.0]
    placed = spread(wanted, 1.0)
    in_order = sorted(zip(wanted, placed, strict=True))
    assert all(after - before >= 1.0 - 1e-9 for (_, before), (_, after) in itertools.pairwise(in_order))
    assert placed[0] == 5.0
    assert placed[3] == pytest.approx(1.05)


@pytest.mark.parametrize("count", [12, 44])
def test_no_two_levels_share_a_colour(count: int) -> None:
    names = ["baseline", "placebo", *(f"level-{index}" for index in range(count))]
    colours = level_colours(names, "baseline", "placebo")
    assert list(colours) == names
    assert len(OTHERS) >= count
    for theme in ("light", "dark"):
        shown = [getattr(colour, theme) for colour in colours.values()]
        apart = [math.dist(rgb(one), rgb(other)) for one, other in itertools.combinations(shown, 2)]
        assert min(apart) > 10, theme


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def test_no_two_colours_of_the_palette_are_written_alike() -> None:
    """The figures' colours are replaced by their CSS variables, so each must be unmistakable."""
    assert len({colour.light for colour in PALETTE}) == len(PALETTE)


@pytest.mark.filterwarnings("error")
def test_a_figure_is_wellformed_svg_in_the_pages_own_colours() -> None:
    svg = str(forest(GROUPS, COLOURS, "said <aloud>"))
    root = ElementTree.fromstring(svg)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert AWKWARD_NAME in texts
    assert not re.search("#[0-9a-f]{6}", svg)
    assert f"var({COLOURS[AWKWARD_NAME].variable})" in svg
    assert root.find("{http://www.w3.org/2000/svg}desc").text == "said <aloud>"  # type: ignore[union-attr]


def test_a_figure_is_the_same_each_time() -> None:
    assert forest(GROUPS, COLOURS, "") == forest(GROUPS, COLOURS, "")


def test_ids_are_the_figures_own_and_all_of_them_are_used() -> None:
    spans = [Span("gateway", "server", 0, 10, 0), Span("a1", "server", 1, 5, 1), Span("a1", "server", 2, 5, 1)]
    svg = str(gantt("trace-7", spans, ""))
    ids = set(re.findall(r' id="([^"]+)"', svg))
    assert ids
    assert all(name.startswith("trace-7-") for name in ids)
    assert set(re.findall(r"url\(#([^)]+)\)", svg)) <= ids


def test_bars_are_labelled_with_their_parts() -> None:
    svg = str(planes([Planes("baseline", 40_000, 6_000, 9_000)], Scale("kB", 1e3, 1), COLOURS, ""))
    assert "40.0 + 6.0 + 9.0 = 55.0 kB" in svg


def test_latencies_all_alike_can_be_drawn() -> None:
    same = Latencies("baseline", np.full(50, 20.0), np.full(50, 20.0))
    assert ">baseline<" in str(latency([same], COLOURS, ""))
