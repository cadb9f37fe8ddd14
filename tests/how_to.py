"""Follows a how-to page (`docs/how-to/adding-*.md`): writes its files, applies its diffs and runs its commands.

docs/README.md describes what the blocks of a page mean.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<ticks>`{3,})(?P<kind>\w*)\n(?P<body>.*?)^(?P=ticks)$", re.M | re.S)
# The text before a block, if it ends with the path of a file and a colon.
PATH = re.compile(r"`(?P<path>[\w@-]*[./][\w./@-]*)`:\n\s*\Z")
# In a quotation: some lines of the file are left out.
LEFT_OUT = re.compile(r"^ *(?:#|//) \.\.\.\n", re.M)
CODE_SPAN = re.compile(r"`([^`\n]+)`")
CONTINUED = re.compile(r"\\\n\s*")

RUN_HERE = re.compile(r"\.venv/bin/(lab (plan|schema|list)|pytest tests/unit/|ruff )")
NEED_CONTAINERS = re.compile(
    r"make (experiment|up|down|test-java|test-go|test-python)\b"
    r"|\.venv/bin/(lab (images|experiment|run|up|down)\b|pytest tests/(contract|e2e)\b)"
    r"|docker "
)
CONTAINER_TESTS = ".venv/bin/pytest tests/contract"
COMMAND_TIMEOUT_S = 300


class PageError(Exception):
    """A page that cannot be followed: its name, the line of the block, and why."""


@dataclass(frozen=True)
class Block:
    """A block of a page. `line`: of its first fence. `path`: of its file, from the line before it.

    `named`: what the page's text before it shows as code, which may be paths of files.
    """

    page: str
    line: int
    kind: str
    path: str | None
    named: Sequence[str]
    text: str

    def error(self, why: str) -> PageError:
        """Return why the block cannot be followed."""
        return PageError(f"{self.page}, line {self.line}: {why}")


@dataclass(frozen=True)
class Followed:
    """What became of a page's blocks.

    `files`: written, changed or quoted. `ran`: commands. `need_containers`: commands that were not run.
    """

    files: Sequence[str]
    ran: Sequence[str]
    need_containers: Sequence[str]
    blocks: int


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in order."""
    text, named, end = page.read_text(), list[str](), 0
    for found in FENCE.finditer(text):
        before = text[end : found.start()]
        path = PATH.search(before)
        named += CODE_SPAN.findall(before)
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page.name, line, found["kind"], path and path["path"], tuple(named), found["body"])
        end = found.end()


def follow(page: Path, root: Path) -> Followed:
    """Follow a page in `root`, a copy of the repository. Raises `PageError` at the first block that does not work."""
    follower = _Follower(root)
    for block in blocks(page):
        follower.take(block)
    return Followed(follower.files, follower.ran, follower.need_containers, follower.taken)


class _Follower:
    def __init__(self, root: Path) -> None:
        self.files: list[str] = []
        self.ran: list[str] = []
        self.need_containers: list[str] = []
        self.taken = 0
        self._root = root
        self._output: str | None = None

    def take(self, block: Block) -> None:
        """Do what one block says. Every kind of block has a meaning here, so none is skipped silently."""
        match block.kind, block.path:
            case "diff", str(path):
                self._change(block, self._root / path)
            case "sh", None:
                self._run_all(block)
            case "text", None:
                self._compare(block)
            case (("diff" | "sh" | ""), _):
                raise block.error("a diff needs the path of its file, commands have none, and a block needs a kind")
            case _, str(path) if not (self._root / path).exists():
                self._write(block, self._root / path)
            case _:
                self._find(block)
        self.taken += 1

    def _write(self, block: Block, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)
        self.files.append(str(block.path))

    def _find(self, block: Block) -> None:
        """Find what a page quotes: in the file of its path, or in one that the page names before."""
        lines = ".*^".join(re.escape(part) for part in LEFT_OUT.split(block.text))
        for path in [block.path] if block.path else reversed(block.named):
            file = self._root / path
            if file.is_file() and re.search(f"^{lines}", file.read_text(), re.M | re.S):
                self.files.append(path)
                return
        raise block.error(f"no file that the page names has these lines; {block.path or 'the block'} has no new path")

    def _change(self, block: Block, path: Path) -> None:
        if not path.is_file():
            raise block.error(f"{block.path} does not exist")
        lines = block.text.splitlines()
        if any(line and line[0] not in " +-" for line in lines):
            raise block.error("a line of a diff begins with a space, + or -")
        old = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        new = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
        text = path.read_text()
        places = [found.start() for found in re.finditer(f"^(?={re.escape(old)})", text, re.M)]
        if old == new:
            raise block.error("the diff changes nothing")
        self.files.append(str(block.path))
        # A page about code that exists shows a change that was made.
        if not places and len(re.findall(f"^(?={re.escape(new)})", text, re.M)) == 1:
            return
        if len(places) != 1:
            raise block.error(f"{block.path} has the lines of the diff {len(places)} times, not once")
        path.write_text(text[: places[0]] + new + text[places[0] + len(old) :])

    def _run_all(self, block: Block) -> None:
        outputs = [self._run(block, command) for command in CONTINUED.sub("", block.text).splitlines() if command]
        seen = [output for output in outputs if output is not None]
        self._output = "".join(seen) if len(seen) == len(outputs) else None

    def _run(self, block: Block, command: str) -> str | None:
        """Run a command and return its output; None if it needs containers."""
        if NEED_CONTAINERS.match(command):
            self.need_containers.append(command)
            if command.startswith(CONTAINER_TESTS):
                self._shell(block, f"{command} --collect-only")  # fails if it selects no test
            return None
        if not RUN_HERE.match(command):
            raise block.error(f"`{command}` is in no list of commands, neither without nor with containers")
        self.ran.append(command)
        return self._shell(block, command)

    def _shell(self, block: Block, command: str) -> str:
        programs = Path(sys.executable).parent
        variables = {**os.environ, "PYTHONPATH": str(self._root), "COLUMNS": "200", "PYTEST_ADDOPTS": "-q"}
        done = subprocess.run(
            command.replace(".venv/bin/", f"{programs}/"), shell=True, cwd=self._root, env=variables,
            capture_output=True, text=True, check=False, timeout=COMMAND_TIMEOUT_S,
        )  # fmt: skip
        if done.returncode:
            raise block.error(f"`{command}` failed with {done.returncode}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def _compare(self, block: Block) -> None:
        """Compare the output of the commands before with what the page shows of it; "..." is any text."""
        if self._output is None:
            raise block.error("no command without containers comes before this output")
        for line in block.text.splitlines():
            pattern = ".*".join(re.escape(part) for part in line.split("..."))
            if not re.search(f"^{pattern} *$", self._output, re.M):
                raise block.error(f"the command does not print `{line}`, but:\n{self._output}")
