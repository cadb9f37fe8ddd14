"""Each page `docs/how-to/adding-*.md` is followed step by step in a copy of the repository."""

import compileall
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.how_to import PageError, blocks, follow
from tests.repository import ROOT, tracked

PAGES = sorted((ROOT / "docs" / "how-to").glob("adding-*.md"))
# What no page changes or reads; they are large.
LEFT_OUT = (":!docs/results", ":!notebooks", ":!tests/golden", ":!tests/browser", ":!tests/expected")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository, with compiled modules: those that there are, and what is missing of `lab`."""
    folder = tmp_path_factory.mktemp("original")
    for path in tracked(".", *LEFT_OUT):
        copy = folder / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
        compiled = path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc"
        if path.suffix == ".py" and compiled.exists():
            (copy.parent / compiled.parent.name).mkdir(exist_ok=True)
            shutil.copy2(compiled, copy.parent / compiled.parent.name)
    compileall.compile_dir(folder / "lab", quiet=1)
    return folder


def page_of(folder: Path, text: str) -> Path:
    page = folder / "adding-nothing.md"
    page.write_text(text)
    return page


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_works_step_by_step(page: Path, original: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(original, tmp_path / "copy")
    followed = follow(page, copy)
    fences = re.findall(r"^ *```", page.read_text(), re.MULTILINE)
    assert followed.blocks == len(fences) / 2
    assert not fences or followed.files


def test_every_how_to_is_followed() -> None:
    subjects = ("claim", "fault", "generator", "node-kind", "study", "target", "topology", "variant")
    assert [page.name for page in PAGES] == [f"adding-a-{subject}.md" for subject in subjects]


GOOD_FILE = "`new.txt`:\n\n```text\none\n```\n"
GOOD_DIFF = "`new.txt`:\n\n```diff\n-one\n+two\n```\n"


def test_files_and_diffs_are_applied_in_order(tmp_path: Path) -> None:
    followed = follow(page_of(tmp_path, f"{GOOD_FILE}\nThen:\n\n{GOOD_DIFF}"), tmp_path)
    assert (tmp_path / "new.txt").read_text() == "two\n"
    assert (followed.files, followed.ran, followed.blocks) == (["new.txt", "new.txt"], [], 2)


def test_a_page_may_quote_a_file_and_show_a_change_that_was_made(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("a = 1\ndef f():\n    b = 2\n    return b\n")
    quotation = "In `code.py` and `other` is:\n\n```python\ndef f():\n    # ...\n    return b\n```\n"
    change = "`code.py`:\n\n```diff\n-a = 0\n+a = 1\n```\n"
    followed = follow(page_of(tmp_path, quotation + change), tmp_path)
    assert (followed.files, followed.blocks) == (["code.py", "code.py"], 2)


def test_commands_with_containers_are_listed_and_not_run(tmp_path: Path) -> None:
    followed = follow(page_of(tmp_path, "```sh\nmake experiment \\\n  EXPERIMENT=x\nmake down\n```\n"), tmp_path)
    assert followed.need_containers == ["make experiment EXPERIMENT=x", "make down"]
    assert followed.ran == []


def test_the_output_of_a_command_is_compared(tmp_path: Path) -> None:
    (tmp_path / "tests" / "unit").mkdir(parents=True)
    (tmp_path / "tests" / "unit" / "test_x.py").write_text("def test_x() -> None:\n    pass\n")
    command = "```sh\n.venv/bin/pytest tests/unit/test_x.py\n```\n\n"
    followed = follow(page_of(tmp_path, f"{command}```text\n1 passed in ...\n```\n"), tmp_path)
    assert (followed.ran, followed.blocks) == ([".venv/bin/pytest tests/unit/test_x.py"], 2)
    with pytest.raises(PageError, match="line 5: the command does not print `2 passed"):
        follow(page_of(tmp_path, f"{command}```text\n2 passed in ...\n```\n"), tmp_path)


WRONG: dict[str, tuple[str, str]] = {
    "a diff whose lines are not in the file": (GOOD_FILE + GOOD_DIFF.replace("-one", "-three"), "0 times"),
    "a diff whose lines are there twice": (GOOD_FILE.replace("one", "one\none") + GOOD_DIFF, "2 times"),
    "a diff of a part of a line": (GOOD_FILE.replace("one", "no one") + GOOD_DIFF, "0 times"),
    "a diff that changes nothing": (GOOD_FILE + GOOD_DIFF.replace("+two", "+one"), "changes nothing"),
    "a diff of a missing file": (GOOD_DIFF, "new.txt does not exist"),
    "a diff without a path": ("```diff\n-one\n+two\n```\n", "needs the path"),
    "another file that exists": (GOOD_FILE + GOOD_FILE.replace("one", "two"), "no file that the page names"),
    "a file without a path": ("```yaml\na: 1\n```\n", "no file that the page names"),
    "a quotation of no file": (GOOD_FILE + "In `new.txt` is:\n\n```yaml\na: 1\n```\n", "no file that the page names"),
    "a part of a line": (GOOD_FILE + "In `new.txt`:\n\n```yaml\nne\n```\n", "no file that the page names"),
    "a block without a kind": ("`new.txt`:\n\n```\none\n```\n", "needs a kind"),
    "a command that fails": ("```sh\n.venv/bin/pytest tests/unit/test_x.py\n```\n", "failed with 4"),
    "a command in no list": ("```sh\nrm x\n```\n", "in no list"),
    "container tests that do not exist": ("```sh\n.venv/bin/pytest tests/contract -k x\n```\n", "failed with"),
    "output without a command": ("```text\n1 passed\n```\n", "no command"),
    "output of a command with containers": ("```sh\nmake down\n```\n\n```text\nstopped\n```\n", "no command"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_page_is_found(wrong: str, tmp_path: Path) -> None:
    text, why = WRONG[wrong]
    with pytest.raises(PageError, match=why):
        follow(page_of(tmp_path, text), tmp_path)


def test_a_block_knows_its_line_and_its_path(tmp_path: Path) -> None:
    page = page_of(tmp_path, f"# Title\n\nText `a.txt`: more.\n\n{GOOD_FILE}\n```sh\nmake up\n```\n")
    assert [(block.line, block.path, block.kind) for block in blocks(page)] == [
        (7, "new.txt", "text"),
        (11, None, "sh"),
    ]
