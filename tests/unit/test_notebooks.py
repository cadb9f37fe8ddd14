"""The notebooks: they run on any results folder, hold no logic, and what they fall back on is a kept result."""

import ast
import re
import subprocess
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

from lab.command import notebook
from lab.command.notebook import KEPT, KEPT_NOTE, Mistake, open_run
from lab.record.summary import read_manifest, read_summary
from lab.record.trial import read_trial_record, trial_folders
from lab.report.build import build
from tests import report_runs

ROOT = Path(__file__).parents[2]
IN_GIT = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "notebooks/*.ipynb"]
NOTEBOOKS = [ROOT / name for name in subprocess.check_output(IN_GIT, cwd=ROOT, text=True).split()]
STUDY = ROOT / "notebooks" / "telemetry-overhead.ipynb"
OPENS = re.compile(r"open_run\(.*\)")

# What the study's own run has, and another run may lack.
OF_THE_STUDY = ("show-bytes", "show-inside", "show-errors", "show-claims")

# A cell with figures besides the intervals, where that is not the latency of each request.
FIGURES = {"proxy-tracing": "show-batching", "span-pipeline": "show-ladders"}

# What a call may be made of.
PARTS = (ast.Call, ast.Attribute, ast.Name, ast.Constant, ast.keyword, ast.expr_context)
LINK = re.compile(r"\]\(([^)\s#]+)")


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def sources(path: Path, kind: str) -> list[str]:
    return [cell.source for cell in read(path).cells if cell.cell_type == kind]


def logic(source: str) -> list[str]:
    """What a cell has besides imports, calls, and names given to what calls return."""
    found = []
    for statement in ast.parse(source).body:
        match statement:
            case ast.Import() | ast.ImportFrom():
                continue
            case ast.Expr(ast.Call() as call) | ast.Assign([ast.Name()], ast.Call() as call):
                found += [ast.unparse(node) for node in ast.walk(call) if not isinstance(node, PARTS)]
            case _:
                found.append(ast.unparse(statement))
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_cells_hold_no_logic(path: Path) -> None:
    assert [logic(source) for source in sources(path, "code")] == [[]] * len(sources(path, "code"))


@pytest.mark.parametrize(
    "source",
    ["x = 1", "f(1 + 1)", "f(x)[0]", "for x in f():\n    g(x)", "def f():\n    g()", "f() if x else g()",
     "f([y for y in x])", "f(lambda: 1)", "f() and g()", "x.y = f()", "x += f()", "f(-1)", "f(f'{x}')"],
)  # fmt: skip
def test_logic_is_seen(source: str) -> None:
    assert logic(source)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_outputs_are_not_in_git(path: Path) -> None:
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    assert [(cell.outputs, cell.execution_count) for cell in cells] == [([], None)] * len(cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_links_of_notebooks_resolve(path: Path) -> None:
    targets = [target for source in sources(path, "markdown") for target in LINK.findall(source)]
    assert [target for target in targets if not (path.parent / target).exists()] == []


def run_all(
    notebook: Path, folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch, *more: NotebookNode
) -> dict[str, str]:
    """Run a notebook on a results folder; any error fails. Returns the HTML that each cell shows, by its id.

    The folder is named as a reader does it, in the brackets of `open_run`.
    """
    monkeypatch.setenv("IPYTHONDIR", str(home))
    run = read(notebook)
    opening = next(cell for cell in run.cells if OPENS.search(cell.source) and cell.cell_type == "code")
    opening.source = OPENS.sub(f"open_run({str(folder)!r})", opening.source)
    run.cells += more
    NotebookClient(run, timeout=120, resources={"metadata": {"path": str(notebook.parent)}}).execute()
    return {cell.id: html(cell) for cell in run.cells if cell.cell_type == "code"}


def html(cell: NotebookNode) -> str:
    return "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_runs_on_the_kept_result(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KEPT / path.stem
    shown = run_all(path, kept, tmp_path, monkeypatch)
    manifest = read_manifest(kept)
    assert KEPT_NOTE in shown["about"]
    assert all(fact in shown["about"] for fact in (manifest["machine"]["kernel"], manifest["started"]))
    assert manifest["spec"]["name"] == path.stem
    levels = list(read_summary(kept / "summary.json").levels)
    assert len(levels) > 2
    assert [level for level in levels if f"</span>{level}</span>" not in shown["show-table"]] == []
    assert [name for name, html in shown.items() if name.startswith("show-") and not html] == []
    assert "This run has no" not in "".join(shown[name] for name in shown if name in OF_THE_STUDY)
    assert all("<svg" in shown[cell] for cell in ("show-intervals", FIGURES.get(path.stem, "show-latency")))
    rejected = [path for path in trial_folders(kept) if not read_trial_record(path).valid]
    assert shown["show-rejected"].count('<th scope="row">') == len(rejected)


def test_it_runs_on_a_run_with_views_and_claims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = nbformat.v4.new_code_cell('run.show("ladder")', metadata={"tags": ["raises-exception"]})
    shown = run_all(STUDY, report_runs.study(tmp_path / "run"), tmp_path / "home", monkeypatch, wrong)
    assert KEPT_NOTE not in shown["about"]
    assert shown["show-views"].count("<svg") == 2
    assert all(title in shown["show-views"] for title in ("What each level adds", "Batches"))
    assert "This run has no interactions" in shown["show-views"]
    assert "This run has no profile" in shown["show-profile"]
    assert all(text in shown["show-claims"] for text in ("holds here", "42 %", "not tested here"))
    (error,) = wrong.outputs
    first, second = error.traceback
    assert first == "error: the report has no section 'ladder'"
    assert "did you mean 'ladders'?" in second


def test_what_is_no_results_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(Mistake, match="is not a results folder"):
        open_run(tmp_path)
    with pytest.raises(Mistake, match=r"summary\.json is missing"):
        (tmp_path / "manifest.json").write_text("{}")
        open_run(tmp_path)


def test_the_newest_run_of_the_study_comes_before_the_kept_one(tmp_path: Path) -> None:
    latest = tmp_path / "a-study" / "latest"
    latest.mkdir(parents=True)
    (latest / "manifest.json").touch()
    assert notebook._usual(tmp_path, "a-study") == KEPT / "a-study"
    (latest / "summary.json").touch()
    assert notebook._usual(tmp_path, "a-study") == latest


def test_it_shows_what_the_report_shows(tmp_path: Path) -> None:
    report = build(report_runs.quick(tmp_path)).read_text()
    sections = open_run(tmp_path).sections
    assert list(sections) == re.findall(r'<section id="(\w+)"', report)
    assert all(section in report for section in sections.values())


def test_a_parts_style_is_of_that_part_alone() -> None:
    style = notebook._style(":root { --ink: #000; }\nbody { margin: 0; }\ntbody th { top: 0; }")
    assert style.startswith(".tollbooth.tollbooth {") and style.count("{") == style.count("}")
    assert "& { --ink: #000; }\n& { margin: 0; }\ntbody th { top: 0; }" in style
