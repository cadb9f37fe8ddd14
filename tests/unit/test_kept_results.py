"""What the documents show of the kept results is what the command that they name prints."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from lab.terminal import print_results

ROOT = Path(__file__).resolve().parents[2]
SHOWN = re.compile(r"<!-- lab table (docs/results/\S+) -->\n```text\n(.*?)```\n<!-- end -->", re.DOTALL)
PLACES = [
    pytest.param(folder, text, id=f"{path.name}: {folder}")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs" / "results").glob("*.md")))
    for folder, text in SHOWN.findall(path.read_text())
]


@pytest.mark.parametrize(("folder", "text"), PLACES)
def test_a_document_shows_what_the_command_that_it_names_prints(folder: str, text: str) -> None:
    out = io.StringIO()
    print_results(ROOT / folder, Console(file=out, width=100))
    assert text == "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def test_every_kept_result_is_shown_somewhere() -> None:
    kept = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/results/*/summary.json")}
    assert kept == {place.values[0] for place in PLACES}
