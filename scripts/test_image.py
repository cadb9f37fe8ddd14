"""test_image.py NAME...: runs tests and linters of the images' sources: the stage `test` of their Dockerfiles.

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


for name in sys.argv[1:]:
    ensure(TABLE[name].bases.values(), say)
    command = stage_command(name, versions(), ROOT, ca_bundle_secret(os.environ))
    done = subprocess.run(command, env=BUILD_ENVIRONMENT, check=False)
    if done.returncode:
        sys.exit(done.returncode)
