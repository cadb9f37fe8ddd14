"""A real browser, and what tests of pages look for in it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

SCREENSHOTS = Path(__file__).parents[1] / ".lab" / "screenshots"
# Of the machine, not of the page: Chromium drops its requests while a network of containers comes or goes.
NETWORK = "net::ERR_NETWORK_CHANGED"
LAPTOP = ViewportSize(width=1366, height=768)

TOO_WIDE = """() => [...document.querySelectorAll("body *")]
    .filter((element) => !element.closest(".scroll, nav ul, pre"))
    .filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
    .map((element) => element.outerHTML.slice(0, 80))"""

CUT_LABELS = """() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
    const edge = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter((text) => {
        const box = text.getBoundingClientRect();
        return box.width && (box.left < edge.left - 1 || box.right > edge.right + 1 || box.bottom > edge.bottom + 1);
    }).map((text) => text.textContent);
})"""

COVERED_LABELS = """() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
    const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
    const boxes = texts.map((text) => text.getBoundingClientRect());
    const found = [];
    for (let one = 0; one < boxes.length; one++) {
        for (let other = one + 1; other < boxes.length; other++) {
            const [a, b] = [boxes[one], boxes[other]];
            const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
            const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
            if (wide > 2 && high > 5) found.push(texts[one].textContent + " / " + texts[other].textContent);
        }
    }
    return found;
})"""


@dataclass
class Opened:
    """A page, and what it said and requested while it was opened."""

    page: Page
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser that requests nothing by itself."""
    names = ("chromium", "google-chrome", "chromium-browser")
    program = next((path for name in names if (path := shutil.which(name))), None)
    assert program, "there is no Chromium: `make test` installs one"
    quiet = ("background-networking", "component-update", "sync", "extensions")
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=[*arguments, *(f"--disable-{name}" for name in quiet)]
        )
        yield browser
        browser.close()


def watched(browser: Browser, size: ViewportSize, dark: bool = False, **more: Any) -> Opened:
    """Return an empty page of its own, which notes what it says and requests."""
    page = browser.new_context(viewport=size, color_scheme="dark" if dark else "light", **more).new_page()
    result = Opened(page)
    page.on("console", lambda message: None if NETWORK in message.text else result.console.append(message.text))
    page.on("pageerror", lambda error: result.console.append(str(error)))
    page.on("request", lambda request: result.requests.append(request.url))
    return result


def screenshot(page: Page, name: str) -> None:
    """Leave a picture of the complete page, for people to look at."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)
