"""Runs the baseline by turns in two checkouts, and prints the ratio of their CPU per request.

Usage: `python tests/golden/alternate.py OLD NEW --blocks 6 --new-experiment baseline.yaml`

`OLD` and `NEW` are checkouts, each with the lab installed in its `.venv`. Each block runs the
experiment once in each checkout. The seed draws the order. `baseline.yaml` is the old checkout's
file, converted by `lab migrate`: both have the same users.

It needs an engine, the images of both checkouts, and an otherwise idle machine. It imports nothing
of the lab, because the checkouts have two versions of it.
"""

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scipy import special

CONFIDENCE = 0.95
EXPERIMENT = Path(__file__).parent / "f411f24" / "experiments" / "baseline.yaml"
# The first that a summary has. Other times are adjusted to their own run's speed, which differs.
METRICS = ("cpu_per_request_services_as_measured_ms", "cpu_per_request_services_ms")


@dataclass(frozen=True)
class Checkout:
    """One side: name, folder, `lab` command, and the experiment's file in its format version."""

    name: str
    root: Path
    lab: Path
    experiment: Path

    def measure(self) -> float:
        """Run the experiment once; return the CPU per request of the services at the baseline, in ms."""
        self._lab("run", str(self.experiment))
        folder = self.root / "results" / self.experiment.stem / "latest"
        self._lab("analyse", str(folder.resolve()))
        return cpu_per_request_ms(json.loads((folder / "summary.json").read_text()))

    def _lab(self, *words: str) -> None:
        sys.stderr.write(f"{self.name}: lab {' '.join(words)}\n")
        subprocess.run([str(self.lab), *words], cwd=self.root, check=True, stdout=subprocess.DEVNULL)


@dataclass(frozen=True)
class Ratio:
    """The new side's cost against the old side's, with its 95 % interval, over so many blocks."""

    ratio: float
    low: float
    high: float
    blocks: int

    def __str__(self) -> str:
        return f"new/old {self.ratio:.4f} (95 %: {self.low:.4f} to {self.high:.4f}), {self.blocks} blocks"


def cpu_per_request_ms(summary: Mapping[str, Any]) -> float:
    """Return the geometric mean over a run's valid trials of the baseline and its repetition, the placebo."""
    levels = {summary["baseline"], summary["placebo"]}
    found = [
        next(trial["values"][metric] for metric in METRICS if metric in trial["values"])
        for trial in summary["trials"]
        if trial["valid"] and trial["level"] in levels
    ]
    if not found:
        raise ValueError(f"the run of {summary['experiment']} has no valid trial of the baseline")
    return statistics.geometric_mean(found)


def orders(blocks: int, seed: int) -> list[tuple[str, str]]:
    """Return who is first and who second in each block."""
    draws = random.Random(seed)
    return [("old", "new") if draws.random() < 0.5 else ("new", "old") for _ in range(blocks)]


def paired_ratio(old: Sequence[float], new: Sequence[float]) -> Ratio:
    """Return the ratio from the logarithms' differences, block by block, with Student's interval."""
    logs = [math.log(after / before) for before, after in zip(old, new, strict=True)]
    if len(logs) < 2:
        raise ValueError("an interval needs at least 2 blocks")
    mean = statistics.mean(logs)
    quantile = float(special.stdtrit(len(logs) - 1, (1 + CONFIDENCE) / 2))
    reach = quantile * statistics.stdev(logs) / math.sqrt(len(logs))
    return Ratio(math.exp(mean), math.exp(mean - reach), math.exp(mean + reach), len(logs))


def alternate(sides: Mapping[str, Checkout], blocks: int, seed: int) -> Ratio:
    """Run all blocks, and print each one's costs on the way."""
    costs: dict[str, list[float]] = {name: [] for name in sides}
    for block, order in enumerate(orders(blocks, seed), start=1):
        for name in order:
            costs[name].append(sides[name].measure())
        shown = ", ".join(f"{name} {costs[name][-1]:.3f} ms" for name in order)
        _say(f"block {block}: {shown}")
    return paired_ratio(costs["old"], costs["new"])


def arguments(words: Sequence[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for side in ("old", "new"):
        parser.add_argument(side, type=Path, help=f"the {side} checkout")
        parser.add_argument(f"--{side}-lab", type=Path, help="its command (default: .venv/bin/lab in it)")
        parser.add_argument(f"--{side}-experiment", type=Path, default=EXPERIMENT, help="in its format version")
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1, help="of the order in each block")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> None:
    """Run the command."""
    given = vars(arguments(words))
    sides = {
        name: Checkout(
            name,
            given[name].resolve(),
            (given[f"{name}_lab"] or given[name] / ".venv" / "bin" / "lab").absolute(),
            given[f"{name}_experiment"].resolve(),
        )
        for name in ("old", "new")
    }
    _say(str(alternate(sides, given["blocks"], given["seed"])))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
