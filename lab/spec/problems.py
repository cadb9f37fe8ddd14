"""What is wrong in a file that a user wrote, where, and what was probably meant; and how that is reported."""

import difflib
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lab.errors import UserError

Path = tuple[str | int, ...]

MAX_PROBLEMS_SHOWN = 5
_MAX_VALUE_CHARACTERS = 60
_MAX_LISTED = 20


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: `path` leads to it from the top of the file, `text` says what it is."""

    path: Path
    text: str


class SpecError(Exception):
    """A text is wrong. The caller that knows its file makes a `UserError` of it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{dotted(problem.path)}: {problem.text}" for problem in self.problems))


def user_error(source: str, problems: Iterable[Problem], place: Callable[[Path], str], hint: str) -> UserError:
    """Return the error that reports the first few problems, a line each: the file, the place in it, what is wrong."""
    lines = [": ".join(part for part in (source, place(problem.path), problem.text) if part) for problem in problems]
    shown = lines[:MAX_PROBLEMS_SHOWN]
    if len(lines) > MAX_PROBLEMS_SHOWN:
        shown.append(f"{source}: and {len(lines) - MAX_PROBLEMS_SHOWN} more")
    return UserError("\n".join(shown), hint)


def dotted(path: Path) -> str:
    """Write a path as a user would: `load.think_time_s[0]`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{_key(step)}" for step in path).removeprefix(".")


def _key(step: str) -> str:
    return step if re.fullmatch(r"[\w./-]{1,60}", step) else show(step)


def show(value: object) -> str:
    """Show a value from a file in a few words on one line."""
    if value is None:
        return "nothing"
    if isinstance(value, dict | list):
        kind = "mapping" if isinstance(value, dict) else "list"
        return f"a {kind}" if value else f"an empty {kind}"
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else str(value)
    return text if len(text) <= _MAX_VALUE_CHARACTERS else text[:_MAX_VALUE_CHARACTERS] + "..."


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name most like `name`, or None if none is similar."""
    return next(iter(difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.5)), None)


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return what `name` could have been: the nearest right name, and the first names of all."""
    known = sorted(names)
    meant = nearest(name, known)
    shown = known if len(known) <= _MAX_LISTED else [*known[:_MAX_LISTED], "..."]
    listed = f"there are: {', '.join(shown)}" if known else "there is none"
    return f"did you mean '{meant}'? ({listed})" if meant else listed
