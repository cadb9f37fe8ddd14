"""The page's files: the report's colours, and nothing that their Content Security Policy would block."""

import re
from pathlib import Path

import pytest

from lab.page.site import TYPES
from lab.report.palette import PALETTE
from tests.page_server import ASSETS

STATIC = sorted(path for path in ASSETS.iterdir() if path.suffix in TYPES)
COLOUR = re.compile(r"(--[a-z0-9-]+): (#[0-9a-f]{6});")
# Ways to turn text into markup or code, what needs an inline style or script, and addresses elsewhere.
BLOCKED = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|<script(?! type=\"module\" src)"
    r"|<style| style=| on[a-z]+=|setAttribute\(\"style\"|https://|url\(|@import"
)


def test_colours_are_those_of_the_report() -> None:
    light, dark = (ASSETS / "page.css").read_text().split("@media (prefers-color-scheme: dark)")
    known = {colour.variable: (colour.light, colour.dark) for colour in PALETTE}
    found = dict(COLOUR.findall(light)), dict(COLOUR.findall(dark))
    assert found[0].keys() == found[1].keys() != set()
    assert {name: (found[0][name], found[1][name]) for name in found[0]} == {name: known[name] for name in found[0]}


@pytest.mark.parametrize("path", STATIC, ids=lambda path: path.name)
def test_nothing_is_inline_or_from_elsewhere(path: Path) -> None:
    assert BLOCKED.findall(path.read_text()) == []


def test_every_module_is_used() -> None:
    every = {path.name for path in STATIC} - {"index.html"}
    text = "".join(path.read_text() for path in STATIC)
    assert every == set(re.findall(r"""["']\.?/(?:assets/)?([a-z]+\.(?:js|css))["']""", text))
