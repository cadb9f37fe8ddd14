"""`lab up`: a system to explore, without load and without measuring."""

import json
import shutil
from collections.abc import Mapping

from rich.console import Console

from lab.analysis.lab import Lab
from lab.command.paths import LOCK, SCRATCH
from lab.command.prepare import place
from lab.engine import images, ports
from lab.engine.lock import only_run
from lab.run.progress import Progress
from lab.spec import SpecError, dotted, parse_experiment, user_error


def up(lab: Lab, target: Mapping[str, object], level: Mapping[str, object], console: Console) -> None:
    """Starts one level of a target, waits until it is ready, and says what to do with it.

    `target` and `level` are what an experiment file would say. Raises `UserError` where it would be wrong.
    """
    # The smallest experiment with this one level; JSON is YAML.
    text = json.dumps(
        {
            "format": "tollbooth.experiment",
            "version": 2,
            "title": "up",
            "question": "up",
            "target": target,
            "load": {"generator": "none"},
            "factors": {"level": {"up": level}},
            "baseline": "up",
            "protocol": {"repetitions": 1},
        }
    )
    try:
        experiment = parse_experiment(text, "up", lab.grammar)
    except SpecError as wrong:
        raise user_error("lab up", wrong.problems, dotted, "see `lab up --help`") from None
    measured = lab.target(experiment)
    needs = measured.declaration.needs(experiment)
    out, where, progress = SCRATCH / "play", place(), Progress(console)
    deployment = measured.deployment(experiment.baseline_level(), where, out)
    with only_run(LOCK):
        shutil.rmtree(out, ignore_errors=True)
        images.ensure(needs.images, progress.say)
        where.driver.remove()
        ports.require_free(needs.services)
        deployment.deploy({}, ())
        with progress.step(f"starting {', '.join(f'{name} {value}' for name, value in {**target, **level}.items())}"):
            deployment.ready(())
        for line in (*deployment.pages(), "stop it: make down"):
            progress.say(f"  {line}")
