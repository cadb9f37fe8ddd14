"""Simulated studies with a known truth, and how often the 95 % intervals contain it.

`python -m tests.synthetic.coverage` simulates the table of docs/explanation/statistics.md anew and writes it there. The
cases are those of an audit of the lab. Each is analysed as before the audit and as the lab does now.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.analysis.stats.intervals import FloatArray, t_interval
from lab.analysis.stats.places import Row, without_places
from lab.analysis.stats.serial import serial_correlation
from lab.run.plan import make_plan
from lab.run.stopping import FIRST_STAGE_BLOCKS
from tests.labs import parse

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "statistics.md"
BEGIN, END = "<!-- python -m tests.synthetic.coverage -->\n", "<!-- end -->"
STUDIES, CHAINS = 4_000, 2_000
RESAMPLES = 1_000
BLOCKS = (2, 3, 4, 5, 6, 7, 9)
# Baseline, placebo and six levels: seven ratios. Only the last level differs, where one level does.
SYSTEMS = 8
BASELINES = 2
# With more noise than this, an outlier of 10 % is less of one.
QUIET = 0.0095
OUTLIER, OUTLIERS = np.log(1.1), 0.1
HALF_WIDTH = 0.02
# What the intervals of a repaired row cover at least and at most.
REPAIRED = (0.92, 0.98)
FIRST_LOOK_BEFORE = 4
MOST_BLOCKS = 40
MOST_BLOCKS_OF_A_CHAIN = 16
DESIGNS = 40
SPEC = """
format: tollbooth.experiment
version: 2
title: Simulated
question: Do the intervals contain the truth?
target: {{kind: mesh, topology: mesh}}
load: {{generator: locust, schedule: {{kind: closed-loop, users: 12, think_time_s: [1.0, 1.1]}}}}
factors: {{telemetry: {{baseline: {{telemetry: baseline}}, {levels}}}}}
baseline: baseline
protocol: {{warm_up_requests: 20, window_s: 15, repetitions: {blocks}, side_by_side: true, retries: 0, seed: {seed}}}
"""
# What places add on the machine where this was built.
PLACES = np.array([0.019, 0.007, 0.005, 0.001, -0.003, -0.011, -0.007, -0.011])

# Studies, systems, blocks.
Shape = tuple[int, int, int]
Noise = Callable[[np.random.Generator, Shape], FloatArray]


# --- the noise of a trial, in the logarithm ---------------------------------------------------------------------------
def normal(rng: np.random.Generator, shape: Shape) -> FloatArray:
    """Normal, 2 %."""
    return rng.normal(0, 0.02, shape)


def heavy_tailed(rng: np.random.Generator, shape: Shape) -> FloatArray:
    """Student's t with 3 degrees of freedom."""
    return 0.02 * rng.standard_t(3, shape)


def skewed(rng: np.random.Generator, shape: Shape) -> FloatArray:
    """1 plus a lognormal part, on all sides."""
    return np.log1p(0.05 * rng.lognormal(0, 1, shape))


def with_outliers(rng: np.random.Generator, shape: Shape) -> FloatArray:
    """Normal, and of the last level's trials one in ten takes 10 % more."""
    noise = rng.normal(0, QUIET, shape)
    noise[:, -1] += OUTLIER * (rng.random((shape[0], shape[2])) < OUTLIERS)
    return noise


def correlated(correlation: float, size: float = 0.02) -> Noise:
    """AR(1) over the blocks of each system, from its stationary distribution."""

    def noise(rng: np.random.Generator, shape: Shape) -> FloatArray:
        steps = rng.normal(0, size, shape)
        steps[..., 1:] *= np.sqrt(1 - correlation**2)
        for block in range(1, shape[2]):
            steps[..., block] += correlation * steps[..., block - 1]
        return steps

    return noise


def of_size(size: float, last: float = 1.0) -> Noise:
    """Normal, of this size; the last level's noise is `last` times as large."""

    def noise(rng: np.random.Generator, shape: Shape) -> FloatArray:
        found = rng.normal(0, size, shape)
        found[:, -1] *= last
        return found

    return noise


# --- a fixed number of blocks -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Coverage:
    """The share of intervals that contain the truth, before and now, and how much wider they are on average."""

    before: float
    now: float
    wider: float


def fixed(noise: Noise, blocks: int, studies: int, *, last_only: bool = False, truth: float = 0.0) -> Coverage:
    """Return the coverage of the levels' ratios to the mean of both baselines, over studies of so many blocks.

    `last_only`: of the last level alone. `truth`: its mean log ratio.
    """
    values = noise(np.random.default_rng(blocks), (studies, SYSTEMS, blocks))
    ratios = ratios_of(values)[:, -1:] if last_only else ratios_of(values)[:, 1:]
    mean, before, _ = t_interval(ratios, 0.95, seed=1, resamples=RESAMPLES)
    _, now, _ = t_interval(
        ratios, 0.95, seed=1, resamples=RESAMPLES, correlation=serial_correlation(values)[:, np.newaxis]
    )
    miss = np.abs(mean - truth)
    return Coverage(float(np.mean(miss <= before)), float(np.mean(miss <= now)), float(now.mean() / before.mean()))


def ratios_of(values: FloatArray) -> FloatArray:
    """Return log ratios (..., ratios, blocks): of the placebo to the baseline, and of levels to the mean of both."""
    placebo = values[..., 1:2, :] - values[..., :1, :]
    both = np.log(np.exp(values[..., :BASELINES, :]).mean(axis=-2, keepdims=True))
    return np.concatenate((placebo, values[..., BASELINES:, :] - both), axis=-2)


# --- runs that end when their intervals are narrow --------------------------------------------------------------------
@dataclass(frozen=True)
class Stopped:
    """Per study and ratio, whether the interval contained the truth; per study, whether it ended at its first look."""

    covered: FloatArray
    at_first_look: NDArray[np.bool_]


def stopped(noise: Noise, studies: int, *, before: bool = False) -> Stopped:
    """Simulate runs that end when all ratios are known to ± `HALF_WIDTH`, as `lab.run.stopping` does."""
    values = noise(np.random.default_rng(1), (studies, SYSTEMS, MOST_BLOCKS))
    return _looks(values, before, lambda running, blocks: values[running, :, :blocks])


def chain(noise: Noise, studies: int, *, before: bool = False) -> Stopped:
    """Simulate such runs side by side: Latin orders, places that add something, and their adjustment."""
    values = noise(np.random.default_rng(1), (studies, SYSTEMS, MOST_BLOCKS_OF_A_CHAIN))
    planned = [places_of_systems(seed) for seed in range(DESIGNS)]

    def adjusted(running: FloatArray, blocks: int) -> FloatArray:
        return np.stack([without(values[study, :, :blocks], planned[study % DESIGNS]) for study in running])

    return _looks(values, before, adjusted)


def _looks(values: FloatArray, before: bool, seen: Callable[[FloatArray, int], FloatArray]) -> Stopped:
    """Look at all studies after each block, as long as they are not narrow: `seen(studies, blocks)` are their values.

    `before` the audit, the first look was after four blocks, and correlation was not looked for.
    """
    studies, _, most = values.shape
    first = FIRST_LOOK_BEFORE if before else FIRST_STAGE_BLOCKS
    covered, at_first, running = np.zeros((studies, SYSTEMS - 1)), np.zeros(studies, dtype=bool), np.arange(studies)
    for blocks in range(first, most + 1):
        narrow, inside = _looked_at(seen(running, blocks), before)
        done = narrow | (blocks == most)
        covered[running[done]], at_first[running[done]] = inside[done], blocks == first
        running = running[~done]
        if len(running) == 0:
            break
    return Stopped(covered, at_first)


def _looked_at(values: FloatArray, before: bool) -> tuple[FloatArray, FloatArray]:
    """Return of each study whether all its ratios are narrow, and which intervals contain the truth, a ratio of 1."""
    correlation = np.zeros((len(values), 1)) if before else serial_correlation(values)[:, np.newaxis]
    mean, reach, _ = t_interval(ratios_of(values), 0.95, seed=1, resamples=RESAMPLES, correlation=correlation)
    width = (np.exp(mean + reach) - np.exp(mean - reach)) / 2
    return np.all(width <= HALF_WIDTH, axis=1), np.abs(mean) <= reach


@cache
def places_of_systems(seed: int) -> FloatArray:
    """Return the place of each system (row) in each block (column) of a planned run."""
    levels = ", ".join(f"level-{index}: {{telemetry: baseline}}" for index in range(SYSTEMS - BASELINES))
    plan = make_plan(parse(SPEC.format(levels=levels, blocks=MOST_BLOCKS_OF_A_CHAIN, seed=seed)))
    names = ("baseline", "placebo", *(f"level-{index}" for index in range(SYSTEMS - BASELINES)))
    found = np.zeros((SYSTEMS, MOST_BLOCKS_OF_A_CHAIN), dtype=np.int64)
    for trial in plan.trials:
        found[names.index(trial.level), trial.block] = trial.position
    return found


def without(noise: FloatArray, places: FloatArray) -> FloatArray:
    """Return a study's values as the lab adjusts them, where places add something to the noise."""
    measured = noise + PLACES[places[:, : noise.shape[1]]]
    index = list(np.ndindex(measured.shape))
    rows = [Row(str(system), block, int(places[system, block]), measured[system, block]) for system, block in index]
    found = without_places(rows)
    return measured if found is None else found.left.reshape(measured.shape)


# --- the table --------------------------------------------------------------------------------------------------------
FIXED: Mapping[str, Callable[[int, int], Coverage]] = {
    "normal": partial(fixed, normal),
    "t, 3 degrees of freedom": partial(fixed, heavy_tailed),
    "1 + lognormal": partial(fixed, skewed),
    "only one level has outliers": partial(fixed, with_outliers, last_only=True, truth=OUTLIERS * OUTLIER),
    "AR(1) 0.3": partial(fixed, correlated(0.3)),
    "AR(1) 0.6": partial(fixed, correlated(0.6)),
}


def every(found: Stopped) -> FloatArray:
    """Return all intervals."""
    return found.covered


def of_last(found: Stopped) -> FloatArray:
    """Return the intervals of the level that differs."""
    return found.covered[:, -1:]


def given_first_look(found: Stopped) -> FloatArray:
    """Return the intervals of the studies that ended at their first look."""
    return found.covered[found.at_first_look]


Simulation = tuple[Callable[..., Stopped], Noise]
EQUAL: Simulation = stopped, of_size(0.0105)
NOISIER: Simulation = stopped, of_size(0.0135)
ONE_NOISY: Simulation = stopped, of_size(0.007, last=3)
IN_SQUARES: Simulation = chain, of_size(0.0105)
IN_SQUARES_ONE_NOISY: Simulation = chain, of_size(0.0105, last=2)
IN_SQUARES_CORRELATED: Simulation = chain, correlated(0.5, size=0.0105)
STOPPING: Sequence[tuple[str, Simulation, Callable[[Stopped], FloatArray]]] = (
    ("seven ratios, equal noise of 1.05 %", EQUAL, every),
    ("the same, given that the run ended at its first look", EQUAL, given_first_look),
    ("noise of 1.35 %, given that the run ended at its first look", NOISIER, given_first_look),
    ("one level has 3 times the noise of the others: that level", ONE_NOISY, of_last),
    ("whole chain: Latin orders, places, end", IN_SQUARES, every),
    ("whole chain, one level has 2 times the noise: all levels", IN_SQUARES_ONE_NOISY, every),
    ("whole chain, one level has 2 times the noise: that level", IN_SQUARES_ONE_NOISY, of_last),
    ("whole chain, AR(1) 0.5", IN_SQUARES_CORRELATED, every),
)


@cache
def outcome(simulation: Simulation, studies: int, before: bool) -> Stopped:
    """Simulate once what several rows show."""
    simulate, noise = simulation
    return simulate(noise, studies, before=before)


def fixed_table(studies: int) -> Iterator[str]:
    """Yield the lines of the table for a fixed number of blocks."""
    yield f"| trials, {studies:,} studies each | |{''.join(f' n = {n} |' for n in BLOCKS)}"
    yield f"|---|---|{'---|' * len(BLOCKS)}"
    for name, case in FIXED.items():
        found = [case(blocks, studies) for blocks in BLOCKS]
        yield f"| {name} | before |{''.join(f' {shown(one.before)} |' for one in found)}"
        yield f"| | now |{''.join(f' {shown(one.now)} |' for one in found)}"
        yield f"| | width |{''.join(f' {one.wider:.2f} |' for one in found)}"


def stopping_table(studies: int) -> Iterator[str]:
    """Yield the lines of the table for runs that end when their intervals are narrow."""
    yield f"| a run ends at ± {HALF_WIDTH * 100:g} points, {studies:,} studies each | before | now |"
    yield "|---|---|---|"
    for name, simulation, pick in STOPPING:
        found = [outcome(simulation, studies, before) for before in (True, False)]
        shares = [
            f" ({one.at_first_look.mean() * 100:.1f} % of runs)" if pick is given_first_look else "" for one in found
        ]
        cells = [f"{shown(pick(one).mean())}{share}" for one, share in zip(found, shares, strict=True)]
        yield f"| {name} | {' | '.join(cells)} |"


def shown(coverage: float) -> str:
    """Show a coverage, in bold where it is not as good as 92 to 98 %."""
    text = f"{coverage:.3f}"
    return text if REPAIRED[0] <= coverage <= REPAIRED[1] else f"**{text}**"


def main() -> None:
    """Write both tables to the document."""
    before, rest = DOCUMENT.read_text().split(BEGIN)
    lines = [*fixed_table(STUDIES), "", *stopping_table(CHAINS)]
    DOCUMENT.write_text(f"{before}{BEGIN}{chr(10).join(lines)}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
