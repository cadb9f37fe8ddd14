"""What the documents show of the kept results is what the command that they name prints."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from lab.analysis.runs import combine
from lab.command.runs import read_run
from lab.record import read_manifest
from lab.report.runs import combined_tables, remarks
from lab.report.terminal import print_lines, print_results, print_tables
from tests.figures import CELLS, PUBLISHED, cell, published
from tests.forked import lab
from tests.labs import LAB

ROOT = Path(__file__).resolve().parents[2]
SHOWN = re.compile(r"<!-- lab table (docs/results/\S+) -->\n```text\n(.*?)```\n<!-- end -->", re.DOTALL)
COMBINED = re.compile(r"<!-- lab combine (docs/results/.*?) -->\n```text\n(.*?)```\n<!-- end -->", re.DOTALL)
PRINTED = re.compile(r"<!-- lab ((?:check|size) .*?) -->\n```text\n(.*?)```\n<!-- end -->", re.DOTALL)
COMMAND = re.compile(r"lab (?:table|combine)((?: docs/results/[a-z0-9-]+)+)")
LONGEST_PAGE = 120
DOCUMENTS = sorted((ROOT / "docs" / "results").glob("*.md"))
# These show a run too.
OTHERS = (
    ROOT / "README.md",
    ROOT / "docs" / "explanation" / "method-in-plain-words.md",
    ROOT / "docs" / "how-to" / "sizing-collectors.md",
    ROOT / "docs" / "reference" / "reading-a-run.md",
)
TABLES = [
    pytest.param(columns.split("|"), table.splitlines(), id=f"{path.name}: {columns[:60]}")
    for path in (*OTHERS, *DOCUMENTS)
    for columns, table in CELLS.findall(path.read_text())
]
PLACES = [
    pytest.param(folder, text, id=f"{path.name}: {folder}")
    for path in (*OTHERS, *DOCUMENTS)
    for folder, text in SHOWN.findall(path.read_text())
]


COMBINATIONS = [
    pytest.param(folders.split(), text, id=f"{path.name}: {folders}")
    for path in (*OTHERS, *DOCUMENTS)
    for folders, text in COMBINED.findall(path.read_text())
]


COMMANDS = [
    pytest.param(words, text, id=f"{path.name}: {words}")
    for path in (*OTHERS, *DOCUMENTS)
    for words, text in PRINTED.findall(path.read_text())
]


@pytest.mark.parametrize(("words", "text"), COMMANDS)
def test_a_document_shows_what_a_command_prints(words: str, text: str) -> None:
    printed = lab(*words.split(), COLUMNS="100").stdout
    assert text == "".join(f"{line.rstrip()}\n" for line in printed.splitlines())


@pytest.mark.parametrize(("folders", "text"), COMBINATIONS)
def test_a_document_shows_what_runs_are_combined_to(folders: list[str], text: str) -> None:
    combined, out = combine([read_run(ROOT / folder) for folder in folders]), io.StringIO()
    on = Console(file=out, width=100)
    print_tables(combined_tables(combined), on)
    print_lines(remarks(combined), on)
    assert text == "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@pytest.mark.parametrize(("folder", "text"), PLACES)
def test_a_document_shows_what_the_command_that_it_names_prints(folder: str, text: str) -> None:
    out = io.StringIO()
    print_results(ROOT / folder, Console(file=out, width=100))
    assert text == "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def test_every_kept_result_is_named_with_the_command_that_prints_it() -> None:
    kept = {path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/results/*/summary.json.xz")}
    texts = [path.read_text() for path in (ROOT / "README.md", *DOCUMENTS)]
    named = {folder for text in texts for folders in COMMAND.findall(text) for folder in folders.split()}
    assert kept == named


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_result_page_is_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_PAGE


@pytest.mark.parametrize(("columns", "table"), TABLES)
def test_the_cells_of_a_table_are_what_the_command_prints(columns: list[str], table: list[str]) -> None:
    for row in table[2:]:
        level, *cells = (text.strip() for text in row.strip("|").split("|"))
        assert len(cells) == len(columns)
        for column, text in zip(columns, cells, strict=True):
            if column.strip() == PUBLISHED:
                assert text in published()
            else:
                folder, metric, number = column.split()
                assert text == cell(ROOT / "docs" / "results" / folder, level, metric, number)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_no_table_of_a_result_is_written_by_hand(path: Path) -> None:
    text = path.read_text()
    assert len(re.findall(r"^\|---", text, re.MULTILINE)) == len(CELLS.findall(text))


@pytest.mark.parametrize("folder", sorted((ROOT / "docs" / "results").glob("*/")), ids=lambda folder: folder.name)
def test_the_experiment_of_a_kept_run_is_still_read(folder: Path) -> None:
    assert LAB.recorded(folder)[0].name == read_manifest(folder)["experiment"]


def test_records_of_kept_runs_are_compressed() -> None:
    assert list(ROOT.glob("docs/results/*/summary.json")) == []
