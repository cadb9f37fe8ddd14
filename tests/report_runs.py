"""Results folders, analysed, that the report's tests build pages from."""

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab.analysis.claims.records import Judged, Part, Verdicts, write_verdicts
from tests.labs import analyse
from tests.synthetic import Level, write_results

AWKWARD_NAME = '<b>&$x$ "q"</b>'


@cache
def _quick() -> "TemporaryDirectory[str]":
    """A run like `quick`, which is the same each time."""
    made = TemporaryDirectory()
    write_results(Path(made.name))
    analyse(Path(made.name))
    return made


def quick(root: Path) -> Path:
    """Write a run like `quick`: four levels, three blocks, one rejected attempt."""
    shutil.copytree(_quick().name, root, dirs_exist_ok=True)
    return root


def study(root: Path) -> Path:
    """Write a run with views: two ladders, one of which begins with a step that is none, and a sweep."""
    rungs = ("off", "unsampled", "dropped", "sink", "jaeger")
    levels = {"baseline": Level(), "placebo": Level()}
    for way, costs_ms, sent in (("manual", (0, 1.5, 3, 2, 0.5), 9_000), ("agent", (2.5, 3, 7, 3, 0.5), 11_000)):
        for index, rung in enumerate(rungs, start=1):
            exported = sent if rung in {"sink", "jaeger"} else 0
            propagated = 6_000 if index > 1 else 0
            levels[f"{way}-{rung}"] = Level(
                f"otel-{way}", 40 + sum(costs_ms[:index]), 60 + 2 * index, 40_000 + propagated, exported
            )
    sizes = (512, 128, 32, 8, 1)
    for step, size in enumerate(sizes):
        levels[f"batch-{size}"] = Level(
            "otel-manual", 50 + 4 * step, 66, 46_000, 9_000 + 2_000 * step, 950 - 5 * step, 3.0 + step
        )
    views = [
        {"kind": "waterfall", "title": way.capitalize(), "levels": ["baseline", *(f"{way}-{rung}" for rung in rungs)]}
        for way in ("manual", "agent")
    ]
    swept = {"title": "Batches", "levels": [f"batch-{size}" for size in sizes], "values": sizes}
    views.append({"kind": "sweep", "axis": "maximum batch size (spans)", "scale": "log2", **swept})
    write_results(root, levels=levels, views=views, rejected=False)
    analyse(root)
    write_verdicts(root / "claims.json", _verdicts())
    return root


def _verdicts() -> Verdicts:
    part = Part(
        metric="cpu_per_request_services_ms", title="CPU per request, services", quantity="ratio",
        levels=("agent-jaeger", "baseline"), estimate=1.4, low=1.3, high=1.5, n=3, wanted_low=1.0, wanted_high=None,
        noise_floor=0.05, answer="holds",
    )  # fmt: skip
    says = {"study": "a-study", "published": "42 %", "reason": None}
    claims = (
        Judged(id="O1", says="the baseline is the best variant", verdict="holds here", parts=(part,), **says),
        Judged(id="O2", says="memory does not fall", verdict="not tested here", **says | {"reason": "no such level"}),
    )
    return Verdicts(experiment="synthetic", confidence=0.95, sources={"a-study": "a thesis of 2024"}, claims=claims)


def crossed(root: Path) -> Path:
    """Write a run with two crossed factors, of which the agent's cost depends on the load."""
    telemetry = {"none": 40.0, "manual": 52.0, "agent": 60.0}
    loads = {"full": 1.0, "half": 0.85}
    levels = {
        f"{name}/{load}": Level(cpu_ms=cpu_ms * factor * (1.15 if (name, load) == ("agent", "half") else 1))
        for name, cpu_ms in telemetry.items()
        for load, factor in loads.items()
    }
    view = {
        "kind": "interaction",
        "title": "Does the load change what telemetry costs?",
        "factors": ["telemetry", "load"],
    }
    factors = {"telemetry": list(telemetry), "load": list(loads)}
    levels["placebo"] = levels["none/full"]
    write_results(root, levels=levels, factors=factors, views=[view], blocks=4, rejected=False)
    analyse(root)
    return root


def degenerate(root: Path) -> Path:
    """Write a run with one block, no trace, a level without a valid trial, and a name that needs escaping."""
    levels = {"baseline": Level(), "placebo": Level(), "named": Level(cpu_ms=44.0), "rejected": Level(cpu_ms=90.0)}
    write_results(root, levels=levels, blocks=1, rejected=False)
    for path in root.glob("trials/*-rejected/trial.json"):
        _edit(path, lambda trial: trial | {"valid": False, "reasons": ["5 of 90 requests failed", "<i>not steady</i>"]})
    analyse(root)
    for path in (root / "summary.json", root / "manifest.json", *root.glob("trials/*/trial.json")):
        path.write_text(path.read_text().replace('"named"', json.dumps(AWKWARD_NAME)))
    return root


def bare_manifest(root: Path) -> Path:
    """Write a run whose manifest says nothing but what it is."""
    quick(root)
    _edit(root / "manifest.json", lambda manifest: {key: manifest[key] for key in ("format", "version")})
    return root


def _edit(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
