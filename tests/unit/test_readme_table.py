"""The README's table is what the command that it names prints."""

import io
from pathlib import Path

from rich.console import Console

from lab.records import read_summary
from lab.table import print_table

ROOT = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- table:begin -->\n", "<!-- table:end -->"


def test_the_readmes_table_is_printed_from_the_results_that_the_repository_keeps() -> None:
    readme = (ROOT / "README.md").read_text()
    shown = readme.split(BEGIN)[1].split(END)[0]
    out = io.StringIO()
    print_table(read_summary(ROOT / "docs" / "results" / "quick" / "summary.json"), Console(file=out, width=100))
    printed = "\n".join(line.rstrip() for line in out.getvalue().splitlines())
    assert shown == f"```text\n{printed}\n```\n"
