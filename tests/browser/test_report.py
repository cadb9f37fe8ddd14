"""The report in a real browser: complete, readable at any width, on paper, and without any other file.

Screenshots are left in `.lab/screenshots/`, for people to look at.
"""

import itertools
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from lab.report.build import build
from tests import report_runs
from tests.browsing import COVERED_LABELS, CUT_LABELS, LAPTOP, SCREENSHOTS, TOO_WIDE, Opened, screenshot, watched

pytestmark = pytest.mark.browser

SIZES = {
    "laptop": LAPTOP,
    "large": ViewportSize(width=1920, height=1080),
    "phone": ViewportSize(width=390, height=844),
}
RUNS: dict[str, Callable[[Path], Path]] = {
    "quick": report_runs.quick,
    "degenerate": report_runs.degenerate,
    "bare": report_runs.bare_manifest,
    "study": report_runs.study,
    "crossed": report_runs.crossed,
}
SECTIONS = {
    "answer": 0, "table": 0, "overhead": 0, "intervals": 1, "latency": 1, "usage": 2, "jvm": 1, "bytes": 1, "trace": 2,
    "order": 1, "rejected": 0, "manifest": 0, "reading": 0, "again": 0,
}  # fmt: skip
"""The page's sections in their order, and how many figures each has for `quick`."""
MORE = {"study": {"claims": 0, "ladders": 1, "sweeps": 1}, "crossed": {"interactions": 1}}
"""The sections that a run with claims or views has besides; views come after `intervals`."""
# In one answer of the browser: each question takes longer than the page to look it up.
FIGURES = """found => found.map((section) => [
    section.getAttribute("id"), section.querySelectorAll("figure > .scroll > svg[role=img]").length,
])"""
LINKED = "found => found.map((link) => link.getAttribute('href'))"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: build(write(tmp_path_factory.mktemp(name))) for name, write in RUNS.items()}


def opened(browser: Browser, report: Path, size: ViewportSize, dark: bool = False) -> Opened:
    """Return a page that tests share: they only look at it."""
    return _opened(browser, report, size["width"], size["height"], dark)


def changeable(browser: Browser, report: Path) -> Page:
    """Return a page of a laptop that the test has to itself."""
    return _open(browser, report, LAPTOP, dark=False).page


@cache
def _opened(browser: Browser, report: Path, width: int, height: int, dark: bool) -> Opened:
    return _open(browser, report, ViewportSize(width=width, height=height), dark)


def _open(browser: Browser, report: Path, size: ViewportSize, dark: bool) -> Opened:
    result = watched(browser, size, dark)
    result.page.goto(report.as_uri())
    return result


@pytest.mark.parametrize("run", RUNS)
def test_no_request_is_sent_and_no_error_is_reported(browser: Browser, reports: dict[str, Path], run: str) -> None:
    result = opened(browser, reports[run], LAPTOP)
    assert result.requests == [reports[run].as_uri()]
    assert result.console == []


def figures(page: Page) -> dict[str | None, int]:
    return dict(page.eval_on_selector_all("main > section", FIGURES))


def test_every_section_is_there_with_its_figures(browser: Browser, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["quick"], LAPTOP).page
    found = figures(page)
    assert found == SECTIONS
    assert list(found) == list(SECTIONS)
    linked = page.eval_on_selector_all("nav a", LINKED)
    assert linked == [f"#{name}" for name in SECTIONS]


@pytest.mark.parametrize("run", MORE)
def test_claims_and_views_have_their_sections(browser: Browser, reports: dict[str, Path], run: str) -> None:
    page = opened(browser, reports[run], LAPTOP).page
    found = figures(page)
    assert {name: found[name] for name in found if name not in SECTIONS} == MORE[run]
    views = [name for name in MORE[run] if name != "claims"]
    after = list(found).index("intervals") + 1
    assert list(found)[after : after + len(views)] == views
    linked = page.eval_on_selector_all("nav a", LINKED)
    assert linked == [f"#{name}" for name in found]


@pytest.mark.parametrize("run", RUNS)
def test_headings_are_in_order_and_ids_are_unique(browser: Browser, reports: dict[str, Path], run: str) -> None:
    page = opened(browser, reports[run], LAPTOP).page
    levels = [int(tag[1]) for tag in page.eval_on_selector_all("h1, h2, h3", "found => found.map(one => one.tagName)")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    ids = page.eval_on_selector_all("[id]", "found => found.map(one => one.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("run", RUNS)
def test_what_cannot_be_seen_is_said(browser: Browser, reports: dict[str, Path], run: str) -> None:
    page = opened(browser, reports[run], LAPTOP).page
    described = page.eval_on_selector_all(
        "figure svg",
        """found => found.map((svg) => svg.getAttribute("aria-labelledby").split(" ")
            .map((id) => document.getElementById(id).textContent).join(" "))""",
    )
    assert described
    assert all(len(text) > 30 for text in described)
    assert page.locator("th:not([scope])").count() == 0
    assert page.locator("table:not(:has(caption))").count() == 0


@pytest.mark.parametrize(
    ("run", "levels"),
    [
        ("quick", ["baseline", "placebo", "otel-manual", "otel-agent"]),
        ("degenerate", ["baseline", "placebo", report_runs.AWKWARD_NAME, "rejected"]),
    ],
)
def test_every_level_is_named_in_the_table(
    browser: Browser, reports: dict[str, Path], run: str, levels: list[str]
) -> None:
    page = opened(browser, reports[run], LAPTOP).page
    rows = page.locator("#table > .scroll tbody").first.locator("th[scope=row]")
    assert [name.strip() for name in rows.all_inner_texts()] == levels
    assert all(row.is_visible() for row in rows.all())


def test_reasons_are_text_and_never_markup(browser: Browser, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["degenerate"], LAPTOP).page
    assert "<i>not steady</i>" in page.locator("#rejected").inner_text()
    assert page.locator("main i, main b").count() == 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("run", RUNS)
def test_the_page_never_scrolls_sideways(browser: Browser, reports: dict[str, Path], run: str, size: str) -> None:
    page = opened(browser, reports[run], SIZES[size]).page
    screenshot(page, f"{run}-{size}")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.evaluate(TOO_WIDE) == []


@pytest.mark.parametrize("run", RUNS)
def test_labels_are_neither_cut_nor_on_top_of_each_other(browser: Browser, reports: dict[str, Path], run: str) -> None:
    page = changeable(browser, reports[run])
    page.eval_on_selector_all("details", "found => found.forEach((one) => { one.name = ''; one.open = true; })")
    assert page.evaluate(CUT_LABELS) == []
    assert page.evaluate(COVERED_LABELS) == []


@pytest.mark.parametrize("run", ["quick", "study", "crossed"])
def test_tables_and_figures_fit_a_laptop_without_scrolling(
    browser: Browser, reports: dict[str, Path], run: str
) -> None:
    page = changeable(browser, reports[run])
    page.eval_on_selector_all("details", "found => found.forEach((one) => { one.name = ''; one.open = true; })")
    hidden = page.eval_on_selector_all(
        ".scroll", "found => found.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    )
    assert hidden == 0


def test_the_dark_page_is_dark_and_its_figures_too(browser: Browser, reports: dict[str, Path]) -> None:
    page = opened(browser, reports["quick"], LAPTOP, dark=True).page
    screenshot(page, "quick-dark")
    brightness = "([r, g, b]) => (Number(r) + Number(g) + Number(b)) / 3"
    colour_of = f"(element, name) => ({brightness})(getComputedStyle(element)[name].match(/\\d+/g))"
    assert page.locator("body").evaluate(f"(one) => ({colour_of})(one, 'backgroundColor')") < 60
    assert page.locator("#intervals svg text").first.evaluate(f"(one) => ({colour_of})(one, 'fill')") > 130


@pytest.mark.parametrize(("run", "most_pages"), [("quick", 14), ("study", 40), ("crossed", 20)])
def test_on_paper_it_has_pages_and_no_figure_is_torn(
    browser: Browser, reports: dict[str, Path], run: str, most_pages: int
) -> None:
    page = changeable(browser, reports[run])
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    paper = page.pdf(path=SCREENSHOTS / f"{run}.pdf", prefer_css_page_size=True, print_background=True)
    pages = paper.count(b"/Type /Page\n") or paper.count(b"/Type /Page ")
    assert 4 <= pages <= most_pages
    page.emulate_media(media="print")
    page.set_viewport_size(ViewportSize(width=695, height=1000))
    tall = page.eval_on_selector_all("figure", "found => found.map((one) => one.getBoundingClientRect().height)")
    assert max(tall) < 1000, "a figure is higher than a page of A4"
    assert page.locator("nav").is_hidden()


def test_the_page_is_small(reports: dict[str, Path]) -> None:
    assert all(report.stat().st_size < 3_000_000 for report in reports.values())
