"""Change a file's fields from the command line: `protocol.repetitions=3`, or in short `repetitions=3`."""

import copy
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from lab.errors import UserError
from lab.spec.problems import SpecError, nearest, show
from lab.spec.yamlfile import parse_yaml

Fields = tuple[str, ...]


def override(data: dict[str, object], overrides: Sequence[str], fields: Iterable[Fields]) -> dict[str, object]:
    """Return `data` with each `key.path=value` applied; the value is read as YAML.

    `fields` are the paths that a file may have besides those in `data`. A key may be new where names are free, such as
    a level's variables; the model checks the result. Raises `UserError` for an override of an unknown field.
    """
    result = copy.deepcopy(data)
    known_fields = tuple(fields)
    fixed = {".".join(path[:-1]) for path in known_fields}
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"override {show(text)} has no '='", "write it as key.path=value, such as repetitions=3")
        known = {".".join(path): path for path in (*known_fields, *_paths(result, ()))}
        _put(result, _path(key.strip(), known, fixed), _parsed(value, text), text)
    return result


def _parsed(value: str, text: str) -> object:
    try:
        return parse_yaml(value) if value.strip() else None
    except SpecError as error:
        raise UserError(f"override {show(text)}: {error.problems[0].text}", "the value is read as YAML") from None


def _path(key: str, known: Mapping[str, Fields], fixed: Collection[str]) -> Fields:
    """Return the path that `key` means: itself, the only field of that name, or a new one where names are free."""
    if key in known:
        return known[key]
    candidates = sorted(name for name, path in known.items() if path[-1] == key)
    if len(candidates) == 1:
        return known[candidates[0]]
    if candidates:
        raise UserError(f"override {show(key)} could mean {', '.join(candidates)}", "give the complete path")
    above, _, name = key.rpartition(".")
    if above in known and above not in fixed:
        return (*known[above], name)
    meant = _nearest(key, known)
    raise UserError(
        f"override of an unknown field {show(key)}" + (f"; did you mean '{meant}'?" if meant else ""),
        "" if meant else "docs/formats.md lists the fields of experiment files",
    )


def _nearest(key: str, known: Mapping[str, Fields]) -> str | None:
    """Return the field whose last name is most like the key's: the right name may be given under a wrong path."""
    last = nearest(key.rpartition(".")[2], {path[-1] for path in known.values()})
    fields = sorted(name for name, path in known.items() if path[-1] == last)
    return nearest(key, fields) or next(iter(fields), None)


def _put(data: dict[str, object], path: Fields, value: object, text: str) -> None:
    for step in path[:-1]:
        below = data.setdefault(step, {})
        if not isinstance(below, dict):
            raise UserError(
                f"override {show(text)}: '{step}' is {show(below)}, not a mapping", "override the field itself"
            )
        data = below
    data[path[-1]] = value


def _paths(data: dict[str, object], above: Fields) -> Iterator[Fields]:
    for key, value in data.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from _paths(value, (*above, key))
