"""Runs of one design with known ratios: manifest and summary, as `lab analyse` writes them."""

import copy
import datetime
import json
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lab.analysis.analyse import summarise
from lab.analysis.runs import Run
from lab.analysis.sets import WITH_ITS_SET
from lab.record.summary import TrialSummary
from lab.spec.parse import recorded_experiment
from tests.labs import LAB, ROOT

QUICK = ROOT / "docs" / "results" / "quick" / "manifest.json"
CPU, MEMORY = "cpu_per_request_services_ms", "memory_services_mean_mib"
FIRST = datetime.datetime(2026, 11, 20, 6, 0, tzinfo=datetime.UTC)
RATIOS = {"placebo": 1.0, "otel-manual": 1.15, "otel-agent": 1.35}


@cache
def _quick() -> dict[str, Any]:
    return json.loads(QUICK.read_text())  # type: ignore[no-any-return]


def run(
    number: int,
    ratios: Mapping[str, float] = RATIOS,
    *,
    hours: float = 4,
    blocks: int = 3,
    noise: float = 0.01,
    rejected: Mapping[int, str] | None = None,
    whole_sets: bool = False,
    not_settled: Collection[int] = (),
) -> Run:
    """Return run `number` of `quick`, started `hours` after the one before. `rejected`: levels by block.

    `whole_sets`: the other trials of such a block are rejected, too. `not_settled`: blocks; without any, no set was
    waited for.

    In each block a level's CPU is the baseline's times its ratio, with noise of this standard deviation (logarithm).
    """
    rng = np.random.default_rng(number)
    started = FIRST + datetime.timedelta(hours=hours * (number - 1))
    manifest = copy.deepcopy(_quick()) | {"started": started.isoformat(timespec="seconds"), "seed": 1}
    experiment = recorded_experiment(manifest["spec"], LAB.grammar)
    trials = []
    for block in range(blocks):
        for level, ratio in {"baseline": 1.0, **ratios}.items():
            wrong = (rejected or {}).get(block)
            valid = wrong is None or (wrong != level and not whole_sets)
            cpu_ms = 20 * (1 + 0.1 * block) * ratio * float(np.exp(rng.normal(0, noise)))
            trials.append(
                TrialSummary(
                    trial=f"{block}-{level}",
                    level=level,
                    block=block,
                    valid=valid,
                    settled=block not in not_settled if not_settled else None,
                    reasons=() if valid else ("too busy" if wrong == level else f"{WITH_ITS_SET} {wrong}",),
                    values={CPU: cpu_ms, MEMORY: 280.0 * ratio} if valid else {},
                )
            )
    summary = summarise(experiment, LAB.target(experiment), trials)
    return Run(f"{started:%Y-%m-%dT%H%M%SZ}", manifest, summary)


def write(run: Run, root: Path) -> Path:
    """Write what `lab combine` and `lab compare` read of a run."""
    folder = root / run.name
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps(run.manifest))
    (folder / "summary.json").write_text(run.summary.model_dump_json())
    return folder
