"""What `lab up` starts: the smallest experiment with one level, as an experiment file would say it. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lab.analysis.lab import Lab
from lab.spec import (
    NO_FAULT,
    Example,
    Experiment,
    Fields,
    Level,
    Problem,
    SpecError,
    dotted,
    parse_experiment,
    suggestion,
    user_error,
)

NAME = "up"
LEVEL = f"factors.level.{NAME}"
# Where a target says that it does not take what a generator sends.
GENERATOR = ("load", "generator")


def chosen(lab: Lab, kind: str, overrides: Sequence[str], fault: str | None) -> Experiment:
    """Return the example of a kind of target with `overrides`, as an experiment file would say them, and a fault.

    Raises `UserError` for what is unknown, or cannot be together.
    """
    try:
        example = lab.targets[lab.grammar.kind_of({"target": {"kind": kind}})].declaration.example
        experiment = _parsed(lab, kind, example, overrides, [])
        if fault is None or fault == NO_FAULT:
            return experiment
        known = example.faults(experiment.baseline_level())
        if fault not in known:
            raise SpecError([Problem((), f"unknown fault '{fault}'; {suggestion(fault, known)}")])
        return _parsed(lab, kind, example, overrides, [known[fault]])
    except SpecError as wrong:
        # Its path in an experiment file says nothing to who has not written one; its last step is the setting's name.
        raise user_error(f"lab {NAME}", wrong.problems, lambda path: dotted(path[-1:]), "see `lab up --help`") from None


def described(experiment: Experiment) -> str:
    """Return a choice in a few words: `mesh: topology duo, telemetry zipkin`."""
    level: Level[Any] = experiment.baseline_level()
    settings = level.settings.model_dump(exclude_defaults=True)
    words = [f"{name} {value}" for name, value in settings.items() if isinstance(value, str | int | float)]
    return f"{experiment.target.kind}: {', '.join(words)}"


def has_faults(experiment: Experiment) -> bool:
    """Whether the level has faults."""
    return bool(experiment.baseline_level().recorded().get("faults"))


def recorded(experiment: Experiment) -> Mapping[str, Any]:
    """Return a choice as its record has it."""
    spec: dict[str, Any] = json.loads(json.dumps(experiment.recorded()))
    return spec


def changes_in_place(before: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a system can become another while it runs: it is the same target, and gets the same load."""
    return all(before[part] == wanted[part] for part in ("target", "load"))


def _parsed(lab: Lab, kind: str, example: Example, overrides: Sequence[str], faults: Sequence[Fields]) -> Experiment:
    """Return the example with the first of its loads that the system takes.

    If it takes none, what is wrong besides the generator is the mistake: another load may have the field that is set.
    """
    rejected, of_level = list[SpecError](), lab.targets[kind].declaration.level.model_fields.keys() - example.target
    paths = [f"{LEVEL}.{text}" if text.partition("=")[0] in of_level else text for text in overrides]
    for load in example.loads:
        try:
            # JSON is YAML.
            return parse_experiment(json.dumps(_file(kind, example, load, faults)), NAME, lab.grammar, paths)
        except SpecError as wrong:
            rejected.append(wrong)
    raise next((wrong for wrong in rejected if all(one.path != GENERATOR for one in wrong.problems)), rejected[-1])


def _file(kind: str, example: Example, load: Fields, faults: Sequence[Fields]) -> dict[str, object]:
    return {
        "format": "tollbooth.experiment",
        "version": 2,
        "title": NAME,
        "question": NAME,
        "target": {"kind": kind, **example.target},
        "factors": {"level": {NAME: {**example.level, **({"faults": list(faults)} if faults else {})}}},
        "baseline": NAME,
        **load,
    }
