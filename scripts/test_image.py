"""test_image.py NAME...: runs tests and linters of the images' sources: the stage `test` of their Dockerfiles.

A toolchain stands for all images that are built with it and have this stage.
The engine's build cache keeps passed stages: unchanged sources are not tested again.
"""

import os
import subprocess
import sys

from lab.engine.image_engine import BUILD_ENVIRONMENT
from lab.engine.image_recipes import TABLE, ca_bundle_secret, stage_command
from lab.engine.images import ROOT, ensure, versions


def say(line: str) -> None:
    """Print a line of progress."""
    sys.stderr.write(f"{line}\n")


def tested(name: str) -> list[str]:
    """Return the images that a name stands for."""
    built = [other for other, image in TABLE.items() if image.bases.get("TOOLCHAIN") == name]
    return [other for other in built if " AS test\n" in (ROOT / TABLE[other].dockerfile).read_text()] or [name]


for name in (image for argument in sys.argv[1:] for image in tested(argument)):
    ensure(TABLE[name].bases.values(), say)
    command = stage_command(name, versions(), ROOT, ca_bundle_secret(os.environ))
    done = subprocess.run(command, env=BUILD_ENVIRONMENT, check=False)
    if done.returncode:
        sys.exit(done.returncode)
