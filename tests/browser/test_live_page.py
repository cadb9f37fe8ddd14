"""The page of a system to explore, in a real browser, on a server that answers as the lab does.

Screenshots are left in `.lab/screenshots/`, for people to look at.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Error, Locator, Page, ViewportSize, expect

from lab.report.numbers import DASH
from tests import page_system
from tests.browsing import COVERED_LABELS, CUT_LABELS, LAPTOP, TOO_WIDE, Opened, screenshot, watched
from tests.page_server import TOKEN, PageServer, page_server

pytestmark = pytest.mark.browser

# 1280 x 720 at 200 % is half of it in each direction.
SIZES: dict[str, dict[str, Any]] = {
    "screen": {"size": ViewportSize(width=1280, height=720)},
    "zoomed": {"size": ViewportSize(width=640, height=360), "device_scale_factor": 2},
    "phone": {"size": ViewportSize(width=390, height=844)},
}
PATIENCE_MS = 30_000
BEGINS_MS = 6_000
AWKWARD = '<img src="x" onerror="window.hacked = 1">'
# They are names of the contract, not text.
KEPT = {"phase", "url", "trace_id"}
PLACES_OF_TEXT = ("h1", "code", "#edges tbody", "#containers tbody", "#changes tbody", "#trace tbody", "#runs tbody")
FOCUSABLE = "a[href], button, select, summary, [tabindex='0']"
DRAINED = """async () => {
    const { request } = await import("/assets/api.js");
    for (let turn = 0; turn < 10; turn++) await request("/api/state");
}"""
HIDE = """(hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture
def server() -> Iterator[PageServer]:
    with page_server() as found:
        yield found


@pytest.fixture(autouse=True)
def closed(browser: Browser, server: PageServer) -> Iterator[None]:
    """Close every page at the end: it sends requests as long as it is open."""
    yield
    for context in browser.contexts:
        context.close()


@pytest.fixture
def page(browser: Browser, server: PageServer) -> Page:
    """The page, with all that it shows."""
    return opened(browser, server).page


@pytest.fixture
def timed(browser: Browser, server: PageServer) -> Page:
    """The page, whose time a test can let pass."""
    return with_clock(watched(browser, LAPTOP).page, server)


def with_clock(page: Page, server: PageServer) -> Page:
    page.clock.install()
    visit(page, server)
    complete(page)
    return page


def opened(browser: Browser, server: PageServer, size: ViewportSize = LAPTOP, **more: Any) -> Opened:
    found = watched(browser, size, **more)
    visit(found.page, server)
    complete(found.page)
    return found


def visit(page: Page, server: PageServer, token: str | None = TOKEN) -> None:
    """Open the page; again, if Chromium drops a module because a network of the machine changed."""
    for _ in range(10):
        server.requests.clear()
        with suppress(Error, AssertionError):
            # An address that differs in its fragment only would not be loaded again.
            page.goto("about:blank")
            page.goto(server.url + (f"#token={token}" if token else ""))
            expect(page.locator("#phase")).not_to_have_text("loading", timeout=BEGINS_MS)
            return
    raise AssertionError("its modules were not loaded")


def complete(page: Page) -> None:
    """Wait for the section that is filled last, in the first turn of all."""
    expect(page.locator("#runs tbody tr").first).to_be_visible()


def until(page: Page, true: Callable[[], object], advance_ms: int = 0) -> None:
    """Wait for a condition; the page's own clock may be advanced meanwhile."""
    for _ in range(PATIENCE_MS // 50):
        if true():
            return
        if advance_ms:
            page.clock.run_for(advance_ms)
        page.wait_for_timeout(50)
    raise AssertionError("waited in vain")


def cells(row: Locator) -> list[str]:
    return row.locator("th, td").all_inner_texts()


def apply(page: Page, label: str, value: str) -> None:
    page.get_by_label(label, exact=True).select_option(label=value)
    page.get_by_role("button", name=f"Apply {label}").press("Enter")


def unfold(page: Page) -> None:
    page.locator("details").evaluate_all("found => found.forEach((one) => { one.open = true; })")


def test_it_shows_a_system_and_complains_of_nothing(browser: Browser, server: PageServer) -> None:
    found = opened(browser, server)
    until(found.page, lambda: server.count("GET /api/state") > 2)
    assert found.console == []
    assert found.page.locator("#problem").inner_text() == ""
    assert all(url.startswith((server.url, "data:")) for url in found.requests)
    assert found.page.locator("h1").inner_text() == "mesh · otel-manual · sampling all · sidecar none · 2.0 requests/s"
    assert found.page.title() == "Tollbooth: up"
    links = found.page.locator("#links a")
    assert [link.get_attribute("href") for link in links.all()] == ["http://127.0.0.1:9090/"]


def test_the_token_leaves_the_address_and_outlives_a_reload(page: Page, server: PageServer) -> None:
    assert page.url == server.url
    visit(page, server, token=None)
    complete(page)
    assert page.url == server.url


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(browser: Browser, server: PageServer, dark: bool) -> None:
    page = opened(browser, server, dark=dark, reduced_motion="reduce").page
    unfold(page)
    screenshot(page, f"live-{'dark' if dark else 'light'}")
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
    assert page.evaluate("document.getAnimations().length") == 0
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    brightness = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).reduce((sum, one) => sum + +one, 0) / 3"
    )
    assert (page.evaluate(brightness) < 60) == dark


@pytest.mark.parametrize("size", SIZES)
def test_it_never_scrolls_sideways(browser: Browser, server: PageServer, size: str) -> None:
    page = opened(browser, server, **SIZES[size]).page
    unfold(page)
    screenshot(page, f"live-{size}")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.evaluate(TOO_WIDE) == []
    if size != "phone":
        wide = "found => found.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.ariaLabel)"
        assert page.locator(".scroll").evaluate_all(wide) == []


@pytest.mark.parametrize("size", ["screen", "zoomed"])
@pytest.mark.parametrize("graph", [page_system.graph, page_system.with_sidecars])
def test_labels_of_the_graph_are_neither_cut_nor_covered(
    browser: Browser, server: PageServer, graph: Callable[[], page_system.Json], size: str
) -> None:
    server.answers["/api/graph"] = graph()
    page = opened(browser, server, **SIZES[size]).page
    screenshot(page, f"live-{graph.__name__}-{size}")
    assert page.locator("#graph .figures").count() == len(server.answers["/api/graph"]["edges"])
    assert page.evaluate(CUT_LABELS) == []
    assert page.evaluate(COVERED_LABELS) == []


def test_arrows_and_table_say_the_same_and_what_is_not_measured_is_no_zero(page: Page) -> None:
    unfold(page)
    rows = page.locator("#edges tbody tr")
    assert rows.count() == len(list(page_system.edges()))
    assert cells(rows.first) == ["client", "gateway", "2.00/s", "0\u00a0%", "3.14", "11.2"]
    assert [cells(row)[:3] for row in rows.all()].count([*page_system.UNSEEN, DASH]) == 1
    assert [cells(row)[2:] for row in rows.all()].count([DASH, DASH, DASH, DASH]) == 1
    drawn = page.locator("#graph .figures").first.locator("text").all_text_contents()
    assert drawn == ["2.00/s · 0\u00a0%", "3.1 / 11 ms"]
    sick = [edge for edge in page_system.edges() if edge["error_share"]]
    assert page.locator("#graph .edge.failing").count() == len(sick) > 0
    assert cells(page.locator("#containers tbody tr").last)[5] == DASH


def test_new_figures_replace_old_ones_in_their_place(page: Page, server: PageServer) -> None:
    page.evaluate("window.row = document.querySelector('#containers tbody tr')")
    server.answers["/api/containers"]["containers"][0]["cpu_cores"] = 1.5
    server.answers["/api/graph"]["edges"][0]["requests_per_s"] = 3.5
    expect(page.locator("#containers tbody tr").first.locator("td").nth(1)).to_have_text("1.50")
    expect(page.locator("#graph .figures text").first).to_have_text("3.50/s · 0\u00a0%")
    assert page.evaluate("window.row.isConnected")


def test_each_value_of_each_setting_shows_its_command(page: Page) -> None:
    for name, values in page_system.CHOICES.items():
        select = page.locator(f"#set-{name}")
        for value in map(str, values):
            select.select_option(label=value)
            assert page.locator(f"#set-{name}-command").inner_text() == f"make up {name.upper()}={value}"


def test_everything_can_be_reached_with_the_keyboard_and_is_seen_to_be(page: Page) -> None:
    every = page.locator(FOCUSABLE).evaluate_all(
        "found => found.flatMap((one, index) => (one.checkVisibility() ? [index] : []))"
    )
    focused = f"""() => [
        [...document.querySelectorAll("{FOCUSABLE}")].indexOf(document.activeElement),
        getComputedStyle(document.activeElement).outlineStyle !== "none",
    ]"""
    reached = []
    for _ in every:
        page.keyboard.press("Tab")
        reached.append(page.evaluate(focused))
    assert reached == [[index, True] for index in every]
    assert len(every) > 20


def test_a_setting_is_changed_with_the_keyboard_alone(page: Page, server: PageServer) -> None:
    page.locator("#set-telemetry").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#set-telemetry-command")).to_have_text("make up TELEMETRY=otel-agent")
    expect(page.get_by_text("not applied yet").first).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text("Telemetry becomes otel-agent.")
    assert server.changes == [{"version": 7, "settings": {"telemetry": "otel-agent"}}]
    expect(page.get_by_text("not applied yet").first).to_be_hidden()
    assert page.evaluate("document.activeElement.ariaLabel") == "Apply Telemetry"
    server.state["phase"] = "up"
    expect(page.locator("#said")).to_have_text("The system is up.")


def test_numbers_are_sent_as_numbers(page: Page, server: PageServer) -> None:
    apply(page, "Load", "5")
    until(page, lambda: server.changes)
    assert server.changes[0]["settings"] == {"load": 5}


def test_another_browsers_change_comes_first(page: Page, server: PageServer) -> None:
    server.before_change = lambda: server.change({"telemetry": "zipkin"})
    apply(page, "Telemetry", "otel-agent")
    expect(page.locator("#said")).to_contain_text("Nothing was changed: the system became another meanwhile.")
    assert page.locator("#set-telemetry-command").inner_text() == "make up TELEMETRY=zipkin"
    assert page.get_by_text("not applied yet").first.is_hidden()
    assert server.changes == []


def test_a_system_that_starts_has_no_figures_and_takes_no_change(browser: Browser, server: PageServer) -> None:
    server.state.update(phase="starting", message="2 of 7 containers are ready")
    page = opened(browser, server).page
    expect(page.locator("#message")).to_have_text("2 of 7 containers are ready")
    expect(page.locator("#system-note")).to_have_text("The system is starting.")
    expect(page.locator("#system-content")).to_be_hidden()
    assert server.count("GET /api/graph") == 0
    apply(page, "Telemetry", "otel-agent")
    expect(page.locator("#said")).to_have_text("The system is starting. Settings can be changed when it is up.")
    assert server.count("POST /api/change") == 0
    server.state.update(phase="up", message=None)
    expect(page.locator("#graph svg")).to_be_visible()
    expect(page.locator("#said")).to_have_text("The system is up.")


def test_a_system_that_failed_says_why(page: Page, server: PageServer) -> None:
    server.state.update(phase="failed", message="a2 does not become ready")
    expect(page.locator("#problem")).to_have_text("a2 does not become ready")
    expect(page.locator("#containers-content")).to_be_hidden()


def test_a_server_that_is_gone_is_said_to_be_and_may_come_back(page: Page, server: PageServer) -> None:
    server.stop()
    expect(page.locator("#problem")).to_contain_text("does not answer. What is shown is of")
    expect(page.locator("#phase")).to_have_text("gone")
    apply(page, "Telemetry", "otel-agent")
    expect(page.locator("#said")).to_have_text("The system is gone. Settings can be changed when it is up.")
    server.start()
    expect(page.locator("#phase")).to_have_text("up")
    expect(page.locator("#problem")).to_have_text("")
    assert server.changes == []


@pytest.mark.parametrize(("token", "requests"), [("f" * 64, ["GET /api/state"]), (None, [])], ids=["wrong", "none"])
def test_without_the_token_one_request_is_sent_until_the_right_address_is_typed(
    browser: Browser, server: PageServer, token: str | None, requests: list[str]
) -> None:
    page = watched(browser, LAPTOP).page
    page.clock.install()
    visit(page, server, token)
    expect(page.locator("#problem")).to_contain_text("open the address that `make up` prints")
    page.clock.run_for(60_000)
    assert server.requests == requests
    visit(page, server)
    complete(page)
    assert page.url == server.url


def test_a_section_whose_answer_is_rejected_says_why_and_keeps_its_figures(page: Page, server: PageServer) -> None:
    del server.answers["/api/graph"]
    expect(page.locator("#system-note")).to_have_text("There is no /api/graph.")
    expect(page.locator("#graph svg")).to_be_visible()
    assert page.locator("#problem").inner_text() == ""


def test_markup_from_the_server_is_only_text(browser: Browser, server: PageServer) -> None:
    server.state = poisoned(server.state)
    server.answers = {path: poisoned(answer) for path, answer in server.answers.items()}
    found = opened(browser, server)
    unfold(found.page)
    for place in (
        "h1",
        "#controls code",
        "#edges tbody",
        "#containers tbody",
        "#changes tbody",
        "#trace tbody",
        "#runs",
    ):
        expect(found.page.locator(place).first).to_contain_text(AWKWARD)
    server.state = poisoned({**page_system.state(), "phase": "failed", "message": "no"})
    expect(found.page.locator("#problem")).to_have_text(f"no{AWKWARD}")
    assert found.page.locator("img").count() == 0
    assert found.page.evaluate("window.hacked") is None
    assert found.console == []


def poisoned(value: Any, key: str = "") -> Any:
    """Return an answer whose every text ends in markup."""
    if isinstance(value, dict):
        return {name: poisoned(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, key) for one in value]
    return value + AWKWARD if isinstance(value, str) and key not in KEPT else value


def test_a_fault_counts_down_and_its_end_is_said_once(page: Page, server: PageServer) -> None:
    expect(page.locator("#fault")).to_have_text(re.compile(r"^Fault packet-delay ends in 9:[0-4]\d$"))
    server.state["fault_expires_unix_s"] = None
    expect(page.locator("#fault")).to_be_hidden()
    assert page.locator("#said").inner_text() == "The fault has ended."


def test_figures_are_not_spoken(page: Page, server: PageServer) -> None:
    page.evaluate("""() => {
        window.spoken = [];
        for (const place of document.querySelectorAll("[role=status], [role=alert]")) {
            new MutationObserver(() => window.spoken.push(place.textContent))
                .observe(place, { childList: true, characterData: true, subtree: true });
        }
    }""")
    server.answers["/api/graph"]["edges"][0]["requests_per_s"] = 9.5
    expect(page.locator("#graph .figures text").first).to_contain_text("9.50/s")
    before = server.count("GET /api/state")
    until(page, lambda: server.count("GET /api/state") > before + 2)
    assert page.evaluate("window.spoken") == []
    assert page.locator("[aria-live]").count() == 0


def test_marks_have_their_noise_and_are_called_no_finding(page: Page) -> None:
    waiting, settled = (page.locator("#changes tbody tr").nth(row) for row in (0, 1))
    assert settled.get_by_text("one start, not a finding").is_visible()
    cost = settled.locator("td").first.inner_text()
    assert "before: 22.8 (21.8 to 23.8)" in cost
    assert "after: 27.4 (26.3 to 28.5)" in cost
    assert "+20\u00a0%; the intervals do not overlap" in cost
    assert "the intervals overlap" in settled.locator("td").last.inner_text()
    assert "after: not settled yet" in waiting.locator("td").first.inner_text()
    assert f"before: {DASH}" in waiting.locator("td").last.inner_text()
    assert waiting.locator("svg").count() == 0


def test_the_newest_slow_trace_is_shown_and_another_can_be_chosen(page: Page, server: PageServer) -> None:
    unfold(page)
    assert page.locator("#trace caption").inner_text() == "Trace slow: 42 spans in 1,890 ms"
    assert page.locator("#trace .span").count() == page.locator("#trace tbody tr").count() == 42
    assert page.locator("#trace .span.failing").count() == 1
    assert cells(page.locator("#trace tbody tr").nth(2)) == ["a1: GET a2/answer", "2", "10.0", "85.0", ""]
    page.get_by_label("Trace", exact=True).select_option("slower")
    expect(page.locator("#trace caption")).to_have_text("Trace slower: 42 spans in 1,890 ms")
    # What a reader has chosen stays, also when the list has forgotten it.
    which = page.get_by_label("Trace", exact=True)
    which.blur()
    server.answers["/api/traces"]["traces"].pop()
    server.answers["/api/traces"]["traces"][0]["root"] = "GET /a4"
    expect(which.locator("option").nth(1)).to_contain_text("GET /a4")
    assert which.input_value() == "slower"


def test_no_span_of_a_broken_trace_is_lost_or_shown_twice(page: Page) -> None:
    spans = [("a", None), ("a", None), ("b", "a"), ("c", "gone"), ("d", "e"), ("e", "d"), ("f", "f")]
    given = [page_system.span(own, parent, "s", own, index, 1) for index, (own, parent) in enumerate(spans)]
    ordered = (
        """async (spans) => (await import("/assets/gantt.js")).ordered(spans).map((one) => [one.name, one.depth])"""
    )
    assert page.evaluate(ordered, given) == [
        ["a", 0], ["b", 1], ["a", 0], ["c", 0], ["d", 0], ["e", 1], ["f", 0],
    ]  # fmt: skip


def test_two_runs_are_shown_side_by_side(page: Page) -> None:
    assert [cells(row)[0] for row in page.locator("#runs tbody").first.locator("tr").all()] == [
        "steady/20261103T080000Z", "quick/20261102T080000Z", "quick/20261101T080000Z",
    ]  # fmt: skip
    page.get_by_label("First run").select_option(label="quick/20261102T080000Z")
    page.get_by_label("Second run").select_option(label="quick/20261101T080000Z")
    rows = page.locator("#runs tbody").last.locator("tr")
    assert rows.count() == 4
    assert cells(rows.first) == [
        "otel-manual", "CPU per request, services", "1.20 (1.17 to 1.23)", "higher", "1.25 (1.22 to 1.28)", "higher",
    ]  # fmt: skip


def test_a_report_is_shown_in_a_frame_that_can_do_nothing(browser: Browser, server: PageServer) -> None:
    found = opened(browser, server)
    page = found.page
    assert cells(page.locator("#runs tbody").first.locator("tr").first)[3] == DASH
    show = page.get_by_role("button", name="Show the report of quick/20261102T080000Z")
    show.click()
    title = page.frame_locator("iframe").locator("h1")
    expect(title).to_have_text("What does tracing cost?")
    assert title.evaluate("(one) => getComputedStyle(one).color") == "rgb(1, 2, 3)"
    assert page.locator("iframe").get_attribute("sandbox") == ""
    expect(page.get_by_role("heading", name="Report of quick/20261102T080000Z")).to_be_focused()
    page.get_by_role("button", name="Close the report").click()
    expect(show).to_be_focused()
    assert page.locator("iframe").count() == 0
    assert found.console == []


def test_a_hidden_tab_sends_no_request(timed: Page, server: PageServer) -> None:
    timed.evaluate(HIDE, True)
    timed.evaluate(DRAINED)
    before = len(server.requests)
    timed.clock.run_for(60_000)
    timed.evaluate(DRAINED)
    assert len(server.requests) == before + 10
    timed.evaluate(HIDE, False)
    until(timed, lambda: server.count("GET /api/graph") > 0 and len(server.requests) > before + 11)


def test_requests_never_overlap(browser: Browser, server: PageServer) -> None:
    found = watched(browser, LAPTOP).page
    # In the page, and not in the server, which still holds a request that Chromium dropped or the page gave up.
    found.add_init_script("""
        const [real, atOnce] = [window.fetch, { now: 0, most: 0 }];
        window.atOnce = atOnce;
        window.fetch = (...given) => {
          atOnce.now += 1;
          atOnce.most = Math.max(atOnce.most, atOnce.now);
          return real(...given).finally(() => (atOnce.now -= 1));
        };
    """)
    timed = with_clock(found, server)
    server.answering.clear()
    before = len(server.requests)
    until(timed, lambda: len(server.requests) > before, advance_ms=1000)
    # Less than what the page waits for an answer.
    timed.clock.run_for(9_000)
    server.answering.set()
    until(timed, lambda: len(server.requests) > before + 5, advance_ms=1000)
    assert timed.evaluate("atOnce.most") == 1
