"""Shared by the tests on real containers."""

from pathlib import Path

import pytest

from tests.e2e.tiny import TINY


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the tiny experiment."""
    path = tmp_path_factory.mktemp("experiments") / "tiny.yaml"
    path.write_text(TINY)
    return path
