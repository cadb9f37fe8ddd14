"""What is required of a run of the benchmarks of spans: the rows of `lab check span-jmh`. Pure.

Levels are recognised by what they set: a benchmark, its parameters, the compiler.
"""

from collections.abc import Collection, Iterator, Mapping
from statistics import fmean

from lab.analysis.checklist import MISSING, Row, above, below, judged
from lab.analysis.stats import Interval, compare, paired
from lab.errors import UserError
from lab.record import Summary

QUESTION = "Does a streaming tracer cost as little as is required?"
CPU, ALLOCATED, BURST = "cpu_per_span_ns", "allocated_bytes_per_span", "burst_us"
LAST_BYTE, CALLER, IN_BURSTS = "LastByteBenchmark", "CallerBenchmark", "BurstBenchmark"
SDK, STREAMING, DISCARD = "sdk", "streaming", "discard"
PLAIN, GZIP = "plain", "gzip"
ATTRIBUTES = "10"

# Required: to the last byte with 10 attributes, at equal compression; the rise of a burst's time to 8 threads.
LEAST_RATIO = 5.0
MOST_BYTES = 100.0
MOST_RISE = 1.10
# The best settings of each tracer are chosen on the first blocks, and compared on the others.
CHOOSING_BLOCKS = 2
LEAST_CHOICE = 2


def required(summary: Summary, seed: int) -> list[Row]:
    """Judge a run. `seed`: of the experiment, for intervals. Raises `UserError` if it is of something else."""
    if not any("benchmark" in level.settings for level in summary.levels.values()):
        raise UserError("this run has no benchmarks", "name a run of `lab experiment span-jmh`")
    return [*_last_byte(summary, seed), _allocated(summary), _burst(summary, seed)]


def _last_byte(summary: Summary, seed: int) -> Iterator[Row]:
    """Yield the best of both tracers and their ratio: without compression, and with it if the run has it of both."""
    tracers = _tracers(summary, LAST_BYTE, attributes=ATTRIBUTES)
    for compression in (PLAIN, GZIP):
        equal = {
            level: words
            for level, words in tracers.items()
            if DISCARD not in words and (GZIP in words) == (compression == GZIP)
        }
        sdk_levels, streaming_levels = (
            [level for level, words in equal.items() if tracer in words] for tracer in (SDK, STREAMING)
        )
        if compression == GZIP and not (sdk_levels and streaming_levels):
            continue
        (sdk, sdks), (streaming, streamings) = _best(summary, sdk_levels), _best(summary, streaming_levels)
        yield _chosen(f"SDK at its best, {compression}", sdk, sdks)
        yield _chosen(f"streaming at its best, {compression}", streaming, streamings)
        blocks = _blocks(summary)[CHOOSING_BLOCKS:]
        ratio = _ratio(summary, CPU, sdk, streaming, blocks, seed) if sdk and streaming else None
        yield above(f"CPU per span, {compression}: SDK / streaming", ratio, LEAST_RATIO)


def _chosen(name: str, level: str | None, candidates: int) -> Row:
    """Judge a choice: the best of one is no choice."""
    bound = f"of {candidates}, at least {LEAST_CHOICE}"
    return judged(name, level or MISSING, bound, bool(level) and candidates >= LEAST_CHOICE)


def _allocated(summary: Summary) -> Row:
    name = "allocated per span, made and queued"
    for level in _tracers(summary, CALLER, attributes=ATTRIBUTES, tracer=f"{STREAMING}-{DISCARD}"):
        for row in summary.estimates:
            if (row.metric, row.level) == (ALLOCATED, level) and row.mean is not None:
                return below(name, Interval(row.mean, row.mean_low, row.mean_high), MOST_BYTES, 1, " B")
    return Row(name, MISSING, f"at most {MOST_BYTES:g} B", "FAIL")


def _burst(summary: Summary, seed: int) -> Row:
    one, eight = (
        next(iter(_tracers(summary, IN_BURSTS, tracer=f"{STREAMING}-{DISCARD}", threads=threads)), "")
        for threads in ("1", "8")
    )
    ratio = _ratio(summary, BURST, eight, one, _blocks(summary), seed)
    return below("burst of 4,000 spans, streaming: 8 threads / 1", ratio, MOST_RISE)


def _tracers(summary: Summary, benchmark: str, **parameters: str) -> Mapping[str, Collection[str]]:
    """Return the words of the tracer's name by level, of a benchmark with these parameters and the compiler C2."""
    return {
        name: level.settings["parameters"]["tracer"].split("-")
        for name, level in summary.levels.items()
        if name != summary.placebo
        and level.settings["benchmark"] == benchmark
        and level.settings["compiler"] == "c2"
        and parameters.items() <= level.settings["parameters"].items()
    }


def _best(summary: Summary, levels: Collection[str]) -> tuple[str | None, int]:
    """Return the level that costs the least in the blocks that choose, and how many were measured there."""
    choosing = _blocks(summary)[:CHOOSING_BLOCKS]
    costs = {level: _values(summary, CPU, level, choosing).values() for level in levels}
    means = {level: fmean(found) for level, found in costs.items() if found}
    return min(means, key=lambda level: means[level], default=None), len(means)


def _ratio(summary: Summary, metric: str, level: str, to: str, blocks: Collection[int], seed: int) -> Interval | None:
    """Return the ratio of two levels, paired within these blocks; None if none has both."""
    pairs = paired(_values(summary, metric, level, blocks), _values(summary, metric, to, blocks))
    correlation = summary.block_correlation.get(metric, 0.0)
    return compare(pairs, summary.confidence, seed, correlation).ratio if pairs else None


def _values(summary: Summary, metric: str, level: str, blocks: Collection[int]) -> Mapping[int, float]:
    """Return a level's values in some blocks, by block."""
    found = summary.by_block(metric).items()
    return {block: values[level] for block, values in found if block in blocks and level in values}


def _blocks(summary: Summary) -> list[int]:
    return sorted({trial.block for trial in summary.trials})
