"""Records what the code at f411f24 does. It ran once; nothing is to be recorded again.

Usage, in a checkout whose `lab/` is that of f411f24: `python tests/golden/f411f24/record.py RESULTS`, where `RESULTS`
holds the results of the experiments in-turn, at-once and sidecars beside this file (`lab run`, then
`lab analyse`).
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import cases

from tests.golden import adapter, records

COMMIT = "f411f24"
CODE = (":(glob)lab/**/*.py", "experiments", "services", "envoy", "backends", "compose.yaml", ".env")
# What no number is computed from.
LEFT_OUT = ("logs", "report.html")


def main(results: Path) -> None:
    """Write all golden files."""
    subprocess.run(["git", "diff", "--quiet", COMMIT, "--", *CODE], check=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in records.REAL:
            latest = results / name / "latest"
            shutil.copytree(latest, Path(folder) / name, ignore=shutil.ignore_patterns(*LEFT_OUT))
        run = Path(folder) / records.MADE_UP
        cases.write_run(run)
        adapter.analyse_run(run)
        (run / "claims.json").write_text(json.dumps(adapter.judge_claims(run)))
        cases.write(Path(folder) / records.CASES)
        records.pack(Path(folder))
    deployments = records.deployments()
    records.write_golden("deployments", deployments)
    records.write_golden("compose", {"version": adapter.compose_version(), **records.resolved(deployments)})
    for name in ("plans", "trials", "claims"):
        records.write_golden(name, records.CURRENT[name]())
    records.SUMS.write_text(records.sums())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
