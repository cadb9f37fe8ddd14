"""What is registered: the kinds of targets, and what an experiment file may say of them and of loads."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lab.analysis.metrics import measures
from lab.contract import Target, Targets
from lab.errors import UserError
from lab.record import VERSION_HINT, read_manifest
from lab.spec import Experiment, Grammar, Load, Problem, SpecError, TargetModels, recorded_experiment, unknown_names


@dataclass(frozen=True)
class Lab:
    """The registered targets by kind, and the models of the generators' loads."""

    targets: Targets
    loads: Sequence[type[Load]]

    @cached_property
    def grammar(self) -> Grammar:
        """What an experiment file may say."""
        models = {
            kind: TargetModels(target.declaration.settings, target.declaration.level, partial(_problems, target))
            for kind, target in self.targets.items()
        }
        return Grammar(models, self.loads)

    def target(self, experiment: Experiment) -> Target[Any]:
        """Return the target of an experiment."""
        return self.targets[experiment.target.kind]

    def recorded(self, results_dir: Path) -> tuple[Experiment, Target[Any]]:
        """Return the experiment that a run's manifest holds, and its target.

        Raises `UserError` where there is no manifest, or its experiment is not one of this lab's.
        """
        spec = read_manifest(results_dir).get("spec")
        try:
            experiment = recorded_experiment(spec, self.grammar)
        except (ValidationError, SpecError) as error:
            wrong = f"{results_dir / 'manifest.json'}: its experiment is not one that this lab knows"
            raise UserError(wrong, VERSION_HINT) from error
        return experiment, self.target(experiment)


def _problems(target: Target[Any], experiment: Experiment) -> Iterator[Problem]:
    """Yield what only the target knows to be wrong: with its levels, and with the names of its metrics."""
    yield from target.declaration.problems(experiment)
    if experiment.headline is not None:
        yield from unknown_names(experiment.headline.metrics, measures(target.judgement), "metric")
