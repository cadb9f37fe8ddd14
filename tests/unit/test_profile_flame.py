"""The differential flame graph and its tables: what is drawn is what was sampled."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from lab.analysis.profile.compare import tree
from lab.analysis.profile.records import Cost, Costs, NodeProfile, ProfileRecord
from lab.record.summary import read_summary
from lab.report.build import build
from lab.report.figures.flame import HEAD, MOST_ROWS, ROW, SMALLEST, WIDTH, flame
from lab.report.flame import MOST_ADDED, MOST_SAVED, profiles
from tests import report_runs

GOLDEN = Path(__file__).parents[1] / "expected" / "flame.svg"
CARRIER = "[ForkJoinPool-1-worker-2 tid=39]"
TOMCAT = "org/apache/catalina/core/StandardWrapperValve.invoke"
SPRING = "org/springframework/web/servlet/DispatcherServlet.doGet"
SDK = "io/opentelemetry/sdk/trace/SdkSpan.end"
MAP = "java/util/HashMap.put"
SVG = "{http://www.w3.org/2000/svg}"

BASELINE: Costs = {
    (CARRIER, TOMCAT): Cost(6, 0.05),
    (CARRIER, TOMCAT, SPRING): Cost(20, 0.1),
    ("[C1 CompilerThre tid=1]", "Compile::Optimize"): Cost(9, 0.1),
}
TRACED: Costs = {
    (CARRIER, TOMCAT): Cost(6.1, 0.05),
    (CARRIER, TOMCAT, SPRING): Cost(20, 0.1),
    (CARRIER, TOMCAT, SPRING, SDK, MAP): Cost(5, 0.1),
    (CARRIER, TOMCAT, SPRING, "brave/internal/<b>.x"): Cost(1, 0.01),
    (CARRIER, TOMCAT, SPRING, "small/one/A.a"): Cost(0.08, 0.01),
    (CARRIER, TOMCAT, SPRING, "small/two/A.a"): Cost(0.07, 0.01),
    ("[BatchSpanProcessor_WorkerThread-1 tid=50]", SDK): Cost(3, 0.1),
    ("[C1 CompilerThre tid=1]", "Compile::Optimize"): Cost(4, 0.1),
}


def drawn() -> str:
    return flame("flame-1", tree(TRACED, BASELINE, "all services"), "Traced & more", "Traced beside baseline.")


def boxes(svg: str) -> dict[str, ElementTree.Element]:
    """By the first line of its title, each box's rectangle."""
    groups = ElementTree.fromstring(svg).findall(f"{SVG}g")
    return {group.findtext(f"{SVG}title", "").split("\n")[0]: group.find(f"{SVG}rect") for group in groups}  # type: ignore[misc]


def test_the_figure_is_the_golden_one() -> None:
    actual = Path(".lab") / "flame.svg"
    if drawn() + "\n" != GOLDEN.read_text():
        actual.parent.mkdir(exist_ok=True)
        actual.write_text(drawn() + "\n")
        pytest.fail(f"it changed: compare {actual} with {GOLDEN}, and put it there if that is meant")


def test_boxes_are_as_wide_as_what_they_cost_and_lie_within_what_called_them() -> None:
    found = boxes(drawn())
    per_ms = WIDTH / sum(cost.ms for cost in TRACED.values())
    for name, ms in (
        ("all services", 39.25),
        ("org.springframework.web", 26.15),
        ("JIT compiler", 4),
        ("java.util", 5),
    ):
        assert float(found[name].attrib["width"]) == pytest.approx(ms * per_ms, abs=0.06)
    # One name is twice in the tree: below the SDK's own thread, and below Spring.
    inside, outside = found["java.util"], found["org.springframework.web"]
    assert float(outside.attrib["x"]) <= float(inside.attrib["x"])
    right = [float(one.attrib["x"]) + float(one.attrib["width"]) for one in (inside, outside)]
    assert right[0] <= right[1] + 0.1
    assert max(right) <= WIDTH + 0.1
    rows = {name: (float(box.attrib["y"]) - HEAD) / ROW for name, box in found.items()}
    assert (rows["all services"], rows["virtual threads"], rows["org.springframework.web"]) == (0, 1, 3)


def test_colour_says_what_is_added_saved_or_inconclusive() -> None:
    looks = {name: (box.attrib["fill"], float(box.attrib["fill-opacity"])) for name, box in boxes(drawn()).items()}
    assert looks["io.opentelemetry.sdk"] == ("var(--worse)", 0.70)
    assert looks["JIT compiler"][0] == "var(--level-1)"
    assert looks["org.springframework.web"][0] == "var(--worse)"
    assert looks["org.springframework.web"][1] < 0.3
    same = flame("x", tree(BASELINE, BASELINE, "all"), "", "")
    assert {box.attrib["fill"] for box in boxes(same).values()} == {"var(--band)"}


def test_small_boxes_are_one_without_a_name() -> None:
    total = sum(cost.ms for cost in TRACED.values())
    assert 0.08 < SMALLEST * total < 0.15
    found = boxes(drawn())
    assert "small.one" not in found
    assert float(found["smaller ones together"].attrib["width"]) == pytest.approx(0.15 * WIDTH / total, abs=0.06)


def test_names_are_escaped_and_labels_fit_their_boxes() -> None:
    svg = drawn()
    assert "<b>" not in svg
    assert "Traced &amp; more" in svg
    for group in ElementTree.fromstring(svg).findall(f"{SVG}g"):
        if (label := group.findtext(f"{SVG}text")) is not None:
            assert len(label) * 6 < float(group.find(f"{SVG}rect").attrib["width"])  # type: ignore[union-attr]


def test_a_deep_stack_stays_readable() -> None:
    frames = [f"lib{index % 2}/part/Class.call" for index in range(200)]
    svg = flame("x", tree({(CARRIER, *frames): Cost(1, 0.01)}, {}, "all"), "", "")
    assert height(svg) == HEAD + ROW * MOST_ROWS
    one = ["lib/part/sub/Class.call", "java/util/List.forEach"] * 100
    # Thread, library, JDK: frames of one library are one box, however many.
    assert height(flame("x", tree({(CARRIER, *one): Cost(1, 0.01)}, {}, "all"), "", "")) == HEAD + ROW * 4


def height(svg: str) -> float:
    return float(ElementTree.fromstring(svg).attrib["viewBox"].split()[3])


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = report_runs.quick(tmp_path / "run")
    for level, samples in (
        ("baseline", {"a/b/C.x": 300, "d/e/F.y": 100}),
        ("otel-agent", {"a/b/C.x": 290, "o/t/S.z": 300}),
    ):
        write_profile(folder, level, samples)
    return folder


def write_profile(folder: Path, level: str, samples: dict[str, int]) -> None:
    place = folder / "profiles" / level
    place.mkdir(parents=True)
    trial = json.loads(next(folder.glob(f"trials/*-{level}/trial.json")).read_text())
    (place / "trial.json").write_text(json.dumps(trial | {"number": 0, "valid": False, "reasons": ["<i>stolen</i>"]}))
    count = sum(samples.values())
    node = NodeProfile(start_ns=0, end_ns=1, slices=4, samples=count, requests=10, cpu_ns=count * 1e6)
    record = ProfileRecord(level=level, nodes={"a1": node})
    (place / "profile.json").write_text(record.model_dump_json())
    (place / "a1.collapsed").write_text("".join(f"{CARRIER};{frame} {n}\n" for frame, n in samples.items()))


def test_rows_add_up_and_the_profiled_trial_is_beside_the_measured_ones(run: Path) -> None:
    found = profiles(run, read_summary(run / "summary.json"))
    assert found is not None
    assert [flame.level for flame in found.flames] == ["otel-agent"]
    (only,) = found.flames
    assert only.added == "+19.00 ms"
    rows = {row[0].value: row for row in only.libraries.rows}
    assert [cell.value for cell in rows["o.t"][3:]] == ["+30.00", "S.z +30.00"]
    assert rows["d.e"][3].value == "\N{MINUS SIGN}10.00"
    assert not rows["a.b"][3].sure
    together, there, _, added, _ = (cell.value for cell in only.libraries.last)
    assert (together, there, added) == ("together", "59.00", "+19.00")
    (agent,) = [[cell.value for cell in row] for row in found.trials.rows if row[0].value == "otel-agent"]
    assert (agent[1], agent[3], agent[5]) == ("590", "59.0", "<i>stolen</i>")


def test_many_libraries_become_few_rows_that_still_add_up(run: Path) -> None:
    write_profile(run, "otel-manual", {f"lib{index}/x/C.m": 10 + index for index in range(40)})
    found = profiles(run, read_summary(run / "summary.json"))
    assert found is not None
    table = next(flame for flame in found.flames if flame.level == "otel-manual").libraries
    assert len(table.rows) <= MOST_ADDED + MOST_SAVED + 1
    assert sum(float(row[1].value) for row in table.rows) == pytest.approx(float(table.last[1].value), abs=0.01)


def test_the_report_has_the_section_with_nothing_unescaped(run: Path) -> None:
    html = build(run).read_text()
    section = html[html.index('<section id="profile">') :].split("</section>")[0]
    assert 'href="#profile"' in html
    assert section.count("<svg") == 1
    assert "otel-agent: +19.00 ms of CPU per request compared with baseline" in section
    assert "&lt;i&gt;stolen&lt;/i&gt;" in section
    assert not re.search(r"\b(src|href)=\"(?!#)", section)


def test_without_profiles_there_is_no_section(tmp_path: Path) -> None:
    assert 'id="profile"' not in build(report_runs.quick(tmp_path)).read_text()


def test_without_the_baselines_profile_the_page_says_so(tmp_path: Path) -> None:
    folder = report_runs.quick(tmp_path)
    write_profile(folder, "otel-agent", {"a/b/C.x": 5})
    section = build(folder).read_text().split('<section id="profile">')[1]
    assert "Nothing to compare" in section
    assert "The profiled trials" in section
