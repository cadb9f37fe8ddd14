"""From the text of an experiment file to an `Experiment`, with messages that name the place and the nearest name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, create_model

from lab.spec.experiment import Experiment, ExperimentFile, FactorName, LevelName
from lab.spec.level import LevelSettings, TargetSettings
from lab.spec.load import Load
from lab.spec.model import field_paths, mapping, validate
from lab.spec.overrides import override
from lab.spec.problems import Problem, SpecError, dotted, show, suggestion, user_error
from lab.spec.rules import contradictions
from lab.spec.yamlfile import find_named_file, parse_yaml, read_text

FileT = TypeVar("FileT", bound=ExperimentFile)

FORMAT = "tollbooth.experiment"
HINT = "docs/formats.md describes the format; experiments/README.md has an example"


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
            seen = "missing;" if target is None else f"saw {show(target)},"
            raise SpecError([Problem(("target",), f"{seen} wanted a mapping")])
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


def find_experiment(name: str, folder: Path) -> Path:
    """Return the file of the experiment called `name` in `folder`; a path to a file works as well."""
    return find_named_file("experiment", name, folder)


def load_experiment(path: Path, grammar: Grammar, overrides: Sequence[str] = ()) -> Experiment:
    """Return the experiment in a file, with `key.path=value` overrides applied; its name is the file's.

    Raises `UserError`, with a line for each of the first few problems.
    """
    source = f"{path} with {show(' '.join(overrides))}" if overrides else str(path)
    try:
        return parse_experiment(read_text(path), path.stem, grammar, overrides)
    except SpecError as error:
        raise user_error(source, error.problems, dotted, HINT) from None


def parse_experiment(text: str, name: str, grammar: Grammar, overrides: Sequence[str] = ()) -> Experiment:
    """Return the experiment that a YAML text describes.

    Raises `SpecError` for the text, and `UserError` for an override.
    """
    data = mapping(parse_yaml(text))
    _reject_other_formats(data)
    kind = grammar.kind_of(data)
    file, experiment = grammar.files[kind], grammar.experiments[kind]
    data = override(data, overrides, field_paths(file.model_json_schema()))
    parsed = validate(experiment, {**dict(validate(file, data)), "name": name})
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
        raise SpecError([Problem(("format",), f"saw {show(found)}, wanted {show(FORMAT)}")])
    if data.get("version") == 1 and data["version"] is not True:
        raise SpecError([Problem(("version",), "1 is no longer read: convert the file with `lab migrate FILE`")])
