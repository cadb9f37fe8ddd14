"""What the documents say is true: links resolve, commands exist, example files are valid."""

import lzma
import re
import shlex
import shutil
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from lab.analysis.claims.spec import parse_claims
from lab.analysis.lab import Lab
from lab.cli import app
from lab.command.prepare import read_experiment
from lab.spec.model import validate
from lab.spec.parse import parse_experiment
from lab.spec.yamlfile import parse_yaml
from lab.target.mesh.target import Mesh
from lab.target.mesh.topology import parse_topology
from lab.target.mesh.variants import Variant
from tests.labs import LAB, METRICS
from tests.repository import ROOT, tracked

FENCE = re.compile(r"^(?P<indent> *)```\w*\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
CODE_SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
# A page as code and comments name it: from the repository's root. A relative link has something before it.
PAGE = re.compile(r"(?<![\w/.-])docs/[\w/-]+\.md\b")
NAMING = ("*.md", "*.py", "*.go", "*.java", "*.proto", "*.yaml", "*.html", "*.ipynb", "*.sh", "Makefile")
PARTS = ("tutorial/", "how-to/", "reference/", "explanation/", "results/")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MAKE_TARGET = re.compile(r"\bmake ([a-z][a-z-]*)")
# "The lab" in what a command prints is none.
LAB_COMMAND = re.compile(r"(?<!the )\blab ([a-z][a-z-]*)")
MAKEFILE_RULE = re.compile(r"^([a-z][a-z-]*(?: [a-z][a-z-]*)*):(?!=)", re.MULTILINE)

EXPERIMENT = "tollbooth.experiment"
PARSERS: dict[str, Callable[[str], object]] = {
    "tollbooth.topology": parse_topology,
    "tollbooth.claims": lambda text: parse_claims(text, "example", METRICS),
    "tollbooth.variant": lambda text: validate(Variant, parse_yaml(text)),
}

# Regular expressions, in halves, so that this file does not contain what it looks for.
PACKAGE_HOSTS = [
    "registry\\." + "npmjs",
    "(proxy|sum)\\." + "golang",
    "pypi\\." + "org",
    "python" + "hosted",
    "repo1?\\." + "maven",
    "deb\\." + "debian",
    "crates\\." + "io",
]
# A cache mount in an image's build is a path of the image, not of this machine.
# Of a process, /proc/<pid>/root is no home folder. What must not come before it is looked at last: the rest is rare.
HOME = "/" + "root/"
MACHINE_PATHS = [rf"{HOME}(?<!target={HOME})(?<!\w{HOME})", "/work/" + "(main|shared|steering|\\.library)"]
LEAKS = [*PACKAGE_HOSTS, *MACHINE_PATHS]
LOCK_FILES = re.compile(r"(\.lock|go\.sum)$")


def content(path: Path) -> bytes:
    """Return what a file says, a compressed one unpacked."""
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


DOCUMENTS = tracked("*.md")


def code(document: str) -> list[str]:
    """Everything that a document shows as code: fenced blocks and spans."""
    blocks = [found["body"] for found in FENCE.finditer(document)]
    return blocks + CODE_SPAN.findall(FENCE.sub("", document))


def anchor(heading: str) -> str:
    """Return the fragment that links to a heading: lower case, no punctuation, hyphens for spaces."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the fragments that link to the headings of a page."""
    return frozenset(anchor(heading) for heading in HEADING.findall(page.read_text()))


def broken_links(path: Path) -> list[str]:
    prose = CODE_SPAN.sub("", FENCE.sub("", path.read_text()))
    targets = [target for target in LINK.findall(prose) if "://" not in target]
    return [target for target in targets if not resolves(path, target)]


def resolves(path: Path, target: str) -> bool:
    name, _, fragment = target.partition("#")
    goal = path.parent / name if name else path
    if not goal.exists():
        return False
    return not fragment or fragment in anchors(goal)


def shown_files(document: str) -> dict[str, str]:
    """Return the topologies that a document shows, by the path in the line before."""
    found = {}
    for block in FENCE.finditer(document):
        line_before = document[: block.start()].rstrip().rpartition("\n")[2]
        named = re.findall(r"`(experiments/topologies/[a-z0-9-]+\.yaml)`", line_before)
        if named:
            found[named[-1]] = textwrap.dedent(block["body"])
    return found


def parse_with_shown_files(where: str, text: str, root: Path) -> None:
    """Parse an experiment of a document in a repository that has the files that the document shows."""
    for name in ("services", "envoy"):
        (root / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "experiments", root / "experiments")
    for path, content in shown_files((ROOT / where).read_text()).items():
        (root / path).write_text(content)
    parse_experiment(text, "example", Lab({"mesh": Mesh(root)}, LAB.loads).grammar)


def example_files() -> list[tuple[str, str, str]]:
    """Where, of which format, and the text of every complete YAML file that a document shows."""
    found = []
    for path in DOCUMENTS:
        for block in FENCE.finditer(path.read_text()):
            text = textwrap.dedent(block["body"])
            if declared := re.match(r"format: (\S+)", text):
                found.append((relative(path), declared[1], text))
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_links_resolve(path: Path) -> None:
    assert broken_links(path) == []


def test_pages_that_files_name_exist() -> None:
    files = {path: set(PAGE.findall(path.read_text())) for path in tracked(*NAMING)}
    missing = {relative(path): {page for page in pages if not (ROOT / page).is_file()} for path, pages in files.items()}
    assert {where: pages for where, pages in missing.items() if pages} == {}


def test_the_index_names_each_page_once() -> None:
    index = ROOT / "docs" / "README.md"
    named = [f"docs/{target}" for target in LINK.findall(index.read_text()) if target.startswith(PARTS)]
    assert sorted(named) == [relative(page) for page in tracked(*(f"docs/{part}*.md" for part in PARTS))]


@pytest.mark.parametrize("readme", tracked("lab/*README.md"), ids=relative)
def test_the_readme_of_a_folder_names_its_modules(readme: Path) -> None:
    modules = {path.name for path in readme.parent.glob("*.py") if not path.name.startswith("__")}
    assert {name for name in modules if f"`{name}`" not in readme.read_text()} == set()


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_make_targets_exist(path: Path) -> None:
    rules = MAKEFILE_RULE.findall((ROOT / "Makefile").read_text())
    targets = {name for rule in rules for name in rule.split()}
    named = {target for text in code(path.read_text()) for target in MAKE_TARGET.findall(text)}
    assert named <= targets


@cache
def commands() -> frozenset[str]:
    return frozenset(typer.main.get_group(app).commands)


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_lab_commands_exist(path: Path) -> None:
    named = {command for text in code(path.read_text()) for command in LAB_COMMAND.findall(text)}
    assert named <= commands()


def help_examples() -> list[str]:
    """Return the examples at the end of each command's help."""
    waiting, found = [typer.main.get_group(app)], ""
    for command in waiting:
        waiting += getattr(command, "commands", {}).values()
        found += f" · {command.epilog or ''}"
    return [example for example in re.split(r" · (?:Examples?: )?", found) if example]


@pytest.mark.parametrize("example", help_examples())
def test_an_example_of_a_help_text_is_accepted(example: str) -> None:
    words = shlex.split(example)
    command: Any = typer.main.get_group(app)
    name, *words = words[words.index("lab") :]
    while hasattr(command, "commands"):
        name, *words = words
        command = command.commands[name]
    given = command.make_context(name, words).params
    if {"name", "set_", "levels"} <= set(given):
        read_experiment(LAB, given["name"], given["set_"] or [], given["levels"])


@pytest.mark.parametrize(("where", "declared", "text"), example_files(), ids=lambda value: value[:40])
def test_example_files_are_valid(where: str, declared: str, text: str, tmp_path: Path) -> None:
    if declared == EXPERIMENT:
        parse_with_shown_files(where, text, tmp_path)
        return
    assert declared in PARSERS, f"{where}: no reader for {declared}"
    PARSERS[declared](text)


def test_the_formats_are_shown_as_examples() -> None:
    assert {declared for _, declared, _ in example_files()} == {EXPERIMENT, *PARSERS}


@cache
def files_with() -> Mapping[str, list[str]]:
    """Return the files that say where a package or a file was, by what gives them away. Each is unpacked once."""
    patterns = {leak: re.compile(leak.encode()) for leak in LEAKS}
    found: dict[str, list[str]] = {leak: [] for leak in LEAKS}
    for path in tracked():
        if not LOCK_FILES.search(path.name):
            said = content(path)
            for leak, pattern in patterns.items():
                if pattern.search(said):
                    found[leak].append(relative(path))
    return found


@pytest.mark.parametrize("leak", LEAKS)
def test_no_package_host_and_no_path_of_one_machine(leak: str) -> None:
    assert files_with()[leak] == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A title, here\n[a](page.md) [b](missing.md) [c](#a-title-here) [d](#nowhere) `[e](code.md)`\n")
    assert broken_links(page) == ["missing.md", "#nowhere"]


def test_code_is_read_from_blocks_and_spans_only() -> None:
    document = "make sure of `make test`\n\n```sh\nmake up\n```\n"
    assert MAKE_TARGET.findall(" ".join(code(document))) == ["up", "test"]
