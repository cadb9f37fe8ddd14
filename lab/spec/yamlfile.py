"""Read YAML that a person wrote: small files, the plain types of YAML 1.2, and nothing surprising."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import yaml

from lab.errors import UserError
from lab.spec.problems import Path as ProblemPath
from lab.spec.problems import Problem, SpecError, dotted, suggestion

MAX_FILE_BYTES = 200_000
MAX_DEPTH = 20

# The core schema of YAML 1.2, less octal and hexadecimal: PyYAML's own is 1.1, where `no` is false, 1e3 is text and 010
# is eight.
_PLAIN: Sequence[tuple[str, Callable[[str], object]]] = (
    ("~|null|Null|NULL|", lambda _: None),
    ("true|True|TRUE", lambda _: True),
    ("false|False|FALSE", lambda _: False),
    # Python converts no more digits to an integer; longer ones become an infinite float.
    (r"[-+]?[0-9]{1,4000}", int),
    (r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", float),
    (r"[-+]?\.(inf|Inf|INF|nan|NaN|NAN)", lambda text: float(text.replace(".", ""))),
)
# Control characters but for tab and line break, and halves of surrogate pairs: escapes can smuggle them in.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def named_files(folder: Path) -> dict[str, Path]:
    """Return the YAML files of a folder by name (without the ending), in order of name."""
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find_named_file(what: str, name: str, folder: Path) -> Path:
    """Return the file of the `what` (such as "experiment") called `name`; a path to a file works as well."""
    files = named_files(folder)
    if name in files:
        return files[name]
    if "/" in name or name.endswith((".yaml", ".yml")):
        return Path(name)
    raise UserError(f"unknown {what} '{name}'; {suggestion(name, files)}", "give one of these names, or a path")


def read_text(path: Path) -> str:
    """Return a file's text. Raises `UserError` for anything but a readable UTF-8 file of at most 200 kB."""
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is not a file", "give the path of a YAML file")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}", "check the path and its permissions") from None
    if len(content) > MAX_FILE_BYTES:
        raise UserError(f"{path} is larger than 200 kB", "is it the right file? these have a few dozen lines")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path} is not UTF-8 text (line {line})", "save it as UTF-8") from None


def parse_yaml(text: str) -> object:
    """Return the content of a YAML document: mappings, lists, text, numbers, booleans and None.

    Keys are always text, as written. Raises `SpecError` for what is not YAML, and for what experiment files do not
    need of YAML: a key given twice, aliases, tags, a second document, deep nesting.
    """
    try:
        node = _composed(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _wrong(line, f"character {error.character:#x} is not allowed") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _wrong(mark.line + 1 if mark else 1, " ".join((error.problem or "").split())) from None
    except (ValueError, OverflowError):  # from an escape such as "\UFFFFFFFF"
        raise SpecError([Problem((), "YAML is wrong: an escape names no character")]) from None
    if node is None:
        raise SpecError([Problem((), "empty")])
    return _value(node, ())


def _wrong(line: int, problem: str) -> SpecError:
    return SpecError([Problem((), f"YAML is wrong in line {line}: {problem}")])


class _Composer(yaml.SafeLoader):
    """Composes nodes, and stops at what could make a small text large or deep."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        is_alias = isinstance(event, yaml.AliasEvent)
        rejected = {
            "aliases are not read here: write the value out": is_alias,
            "tags are not read here": not is_alias and event.tag is not None,
            f"nested deeper than {MAX_DEPTH}": self.depth == MAX_DEPTH,
        }
        if problem := next((text for text, is_so in rejected.items() if is_so), None):
            raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
        self.depth += 1
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


# PyYAML takes tens of milliseconds for a file. Nodes are only read, so that the same text need not be composed again.
_composed = lru_cache(maxsize=128)(lambda text: _Composer(text).get_single_node())


def _value(node: yaml.Node, path: ProblemPath) -> object:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, (*path, index)) for index, item in enumerate(node.value)]
    assert isinstance(node, yaml.ScalarNode)  # there is no fourth kind
    _reject_unprintable(node)
    if node.style is not None:  # it is in quotes
        return node.value
    return next((value for pattern, value in _PLAIN if re.fullmatch(pattern, node.value)), str)(node.value)


def _mapping(node: yaml.MappingNode, path: ProblemPath) -> dict[str, object]:
    result: dict[str, object] = {}
    for key_node, value_node in node.value:
        line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise _wrong(line, "a key must be text")
        _reject_unprintable(key_node)
        key = key_node.value
        if key in result:
            raise _wrong(line, f"{dotted((*path, key))} is given twice")
        result[key] = _value(value_node, (*path, key))
    return result


def _reject_unprintable(node: yaml.ScalarNode) -> None:
    if found := _UNPRINTABLE.search(node.value):
        raise _wrong(node.start_mark.line + 1, f"character {ord(found[0]):#x} is not allowed")
