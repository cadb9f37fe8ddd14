"""`lab up`: a system to explore, without load and without measuring."""

import json
import shutil
from collections.abc import Sequence

from rich.console import Console

from lab.analysis.lab import Lab
from lab.command.paths import LOCK, SCRATCH
from lab.command.prepare import place
from lab.engine import images, ports
from lab.engine.lock import only_run
from lab.run.progress import Progress
from lab.spec import SpecError, dotted, parse_experiment, user_error


def up(lab: Lab, kind: str, overrides: Sequence[str], console: Console) -> None:
    """Starts one level of a kind of target, waits until it is ready, and says what to do with it.

    It is the target's example with `overrides`, as an experiment file would say them. Raises `UserError` where that
    is wrong.
    """
    try:
        settings, of_level = lab.targets[lab.grammar.kind_of({"target": {"kind": kind}})].declaration.example
        # The smallest experiment with this one level; JSON is YAML.
        text = json.dumps(
            {
                "format": "tollbooth.experiment",
                "version": 2,
                "title": "up",
                "question": "up",
                "target": {"kind": kind, **settings},
                "load": {"generator": "none"},
                "factors": {"level": {"up": of_level}},
                "baseline": "up",
                "protocol": {"repetitions": 1},
            }
        )
        experiment = parse_experiment(text, "up", lab.grammar, overrides)
    except SpecError as wrong:
        raise user_error("lab up", wrong.problems, dotted, "see `lab up --help`") from None
    measured, level = lab.target(experiment), experiment.baseline_level()
    out, where, progress = SCRATCH / "play", place(), Progress(console)
    deployment, needs = measured.deployment(level, where, out), measured.declaration.needs(experiment)
    chosen = ", ".join(f"{name} {value}" for name, value in level.settings.model_dump(exclude_defaults=True).items())
    with only_run(LOCK):
        shutil.rmtree(out, ignore_errors=True)
        images.ensure(needs.images, progress.say)
        where.driver.remove()
        ports.require_free(needs.services)
        deployment.deploy({}, ())
        with progress.step(f"starting {kind}: {chosen}"):
            deployment.ready(())
        for line in (*deployment.pages(), "stop it: make down"):
            progress.say(f"  {line}")
