"""Shared by the tests in a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browsing import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, of the machine."""
    with chromium() as found:
        yield found
