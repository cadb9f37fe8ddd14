"""Follows a how-to page (`docs/adding-*.md`): writes its files, applies its diffs and runs its commands.

docs/README.md describes what the blocks of a page mean.
"""

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<kind>\w*)\n(?P<body>.*?)^(?P=indent)(?P=ticks)$", re.M | re.S)
# The last line before a block, if that is the path of a file and a colon.
PATH = re.compile(r"(?:^|\n) *`(?P<path>[^`\n]+)`:\n\s*\Z")
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
    """A block of a page. `line`: of its first fence. `path`: of the file that it is about; None if it names none."""

    page: str
    line: int
    kind: str
    path: str | None
    text: str

    def error(self, why: str) -> PageError:
        """Return why the block cannot be followed."""
        return PageError(f"{self.page}, line {self.line}: {why}")


@dataclass(frozen=True)
class Followed:
    """What became of a page's blocks: the paths written, the commands run, and those that need containers."""

    files: Sequence[str]
    ran: Sequence[str]
    need_containers: Sequence[str]
    blocks: int


def blocks(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in order."""
    text, end = page.read_text(), 0
    for found in FENCE.finditer(text):
        path = PATH.search(text[end : found.start()])
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page.name, line, found["kind"], path and path["path"], textwrap.dedent(found["body"]))
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
            case _, None:
                raise block.error("a file needs its path in the line before the block")
            case _, str(path):
                self._write(block, self._root / path)
        if block.path:
            self.files.append(block.path)
        self.taken += 1

    def _write(self, block: Block, path: Path) -> None:
        if path.exists():
            raise block.error(f"{block.path} already exists")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text)

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
        if len(places) != 1 or old == new:
            raise block.error(f"{block.path} has the lines of the diff {len(places)} times, not once, or it changes none")
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
            if not re.search(f"^{pattern}$", self._output, re.M):
                raise block.error(f"the command does not print `{line}`, but:\n{self._output}")
