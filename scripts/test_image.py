"""test_image.py NAME: runs the tests and linters of an image's sources in its Dockerfile's stage `test`.

The engine's build cache remembers what passed: unchanged sources are not tested again.
"""

import os
import subprocess
import sys

from lab.image_engine import BUILD_ENVIRONMENT
from lab.image_recipes import TABLE, ca_bundle_secret, stage_command
from lab.images import ROOT, ensure, versions

(name,) = sys.argv[1:]
ensure(TABLE[name].bases.values(), lambda line: sys.stderr.write(f"{line}\n"))
command = stage_command(name, versions(), ROOT, ca_bundle_secret(os.environ))
sys.exit(subprocess.run(command, env=BUILD_ENVIRONMENT, check=False).returncode)
