"""From the text of an experiment file to an `Experiment`, with messages that name the place and the nearest name.

Fields can be changed from the command line: `protocol.repetitions=3`, or in short `repetitions=3`.
"""

import copy
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, create_model

from lab.errors import UserError
from lab.spec.experiment import Experiment, ExperimentFile, FactorName, LevelName
from lab.spec.level import LevelSettings, TargetSettings
from lab.spec.load import Load
from lab.spec.model import field_paths, mapping, schema_of, validate
from lab.spec.only import only_levels
from lab.spec.problems import Problem, SpecError, dotted, nearest, show, suggestion, user_error
from lab.spec.rules import contradictions
from lab.spec.yamlfile import parse_yaml, read_text

FileT = TypeVar("FileT", bound=ExperimentFile)

Fields = tuple[str, ...]

FORMAT = "tollbooth.experiment"
HINT = "docs/reference/formats.md describes the format; experiments/README.md has an example"


@dataclass(frozen=True)
class TargetModels:
    """What an experiment file may contain for one kind of target. `problems` finds what the models cannot."""

    settings: type[TargetSettings]
    level: type[LevelSettings]
    problems: Callable[[Experiment], Iterator[Problem]] = lambda _: iter(())


@dataclass(frozen=True)
class Grammar:
    """What an experiment file may contain: the models of the targets by kind, and of the generators."""

    targets: Mapping[str, TargetModels]
    loads: Sequence[type[Load]]

    @cached_property
    def files(self) -> Mapping[str, type[ExperimentFile]]:
        """The model of the file, by kind of target."""
        return {kind: self._model(ExperimentFile, kind, models) for kind, models in self.targets.items()}

    @cached_property
    def experiments(self) -> Mapping[str, type[Experiment]]:
        """The model of the named experiment, by kind of target."""
        return {kind: self._model(Experiment, kind, models) for kind, models in self.targets.items()}

    def schema(self) -> Mapping[str, Any]:
        """Return the JSON Schema of the file."""
        return TypeAdapter(reduce(or_, self.files.values())).json_schema()

    def kind_of(self, data: object) -> str:
        """Return the kind of target that a file names. Raises `SpecError`."""
        target = mapping(data).get("target")
        if not isinstance(target, dict):
            seen = "missing;" if target is None else f"got {show(target)},"
            raise SpecError([Problem(("target",), f"{seen} expected a mapping")])
        kind = target.get("kind")
        if isinstance(kind, str) and kind in self.targets:
            return kind
        seen = "missing" if kind is None else f"unknown kind {show(kind)}"
        raise SpecError([Problem(("target", "kind"), f"{seen}; {suggestion(str(kind or ''), self.targets)}")])

    def _model(self, base: type[FileT], kind: str, models: TargetModels) -> type[FileT]:
        level: Any = models.level
        levels: Any = Annotated[Mapping[LevelName, level], Field(min_length=1)]
        fields: dict[str, Any] = {"target": models.settings, "factors": Mapping[FactorName, levels]}
        described: dict[str, Any] = {name: (model, base.model_fields[name]) for name, model in fields.items()}
        # A base's field would take the place of a discriminator in the type.
        load = Field(discriminator="generator", description=base.model_fields["load"].description)
        described["load"] = (reduce(or_, self.loads), load)
        return create_model(kind.title() + base.__name__, __base__=base, **described)


def load_experiment(path: Path, grammar: Grammar, overrides: Sequence[str] = (), levels: str = "") -> Experiment:
    """Return the experiment in a file, with `key.path=value` overrides applied; its name is the file's.

    `levels`: those to keep (see `only_levels`).

    Raises `UserError`, with a line for each of the first few problems.
    """
    try:
        return parse_experiment(read_text(path), path.stem, grammar, overrides, levels)
    except SpecError as error:
        source = f"{path} with {show(' '.join(overrides))}" if overrides else str(path)
        raise user_error(source, error.problems, dotted, HINT) from None


def parse_experiment(
    text: str, name: str, grammar: Grammar, overrides: Sequence[str] = (), levels: str = ""
) -> Experiment:
    """Return the experiment that a YAML text describes, of which `levels` are kept (see `only_levels`).

    Raises `SpecError` for the text, and `UserError` for an override.
    """
    data = mapping(parse_yaml(text))
    _reject_other_formats(data)
    kind = grammar.kind_of(data)
    file, experiment = grammar.files[kind], grammar.experiments[kind]
    # Making the schema takes longer than all the rest.
    data = override(data, overrides, field_paths(schema_of(file))) if overrides else data
    parsed = validate(experiment, {**only_levels(validate(file, data), levels), "name": name})
    if problems := list(contradictions(parsed)) or list(grammar.targets[kind].problems(parsed)):
        raise SpecError(problems)
    return parsed


def recorded_experiment(spec: object, grammar: Grammar) -> Experiment:
    """Return the experiment that a manifest holds. Raises `SpecError`, or pydantic's `ValidationError`."""
    return grammar.experiments[grammar.kind_of(spec)].model_validate(spec)


def _reject_other_formats(data: Mapping[str, object]) -> None:
    """Raise `SpecError` for another kind of file, and for version 1, whose other fields would all be wrong."""
    found = data.get("format", FORMAT)
    if found != FORMAT:
        raise SpecError([Problem(("format",), f"got {show(found)}, expected {show(FORMAT)}")])
    if data.get("version") == 1 and data["version"] is not True:
        raise SpecError([Problem(("version",), "1 is no longer read: convert the file with `lab migrate FILE`")])


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
        path = _path(key.strip(), known, fixed)
        try:
            _put(result, path, parse_yaml(value) if value.strip() else None, text)
        except SpecError as error:
            raise UserError(f"override {show(text)}: {error.problems[0].text}", "the value is read as YAML") from None
    return result


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
        "" if meant else "docs/reference/formats.md lists the fields of experiment files",
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
