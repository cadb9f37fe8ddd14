"""Summaries whose truth is known, and claims about them, for the tests of claims."""

from collections.abc import Mapping, Sequence

import numpy as np

from lab.analysis.claims.judge import judge
from lab.analysis.claims.records import Judged
from lab.analysis.claims.spec import Study, parse_claims
from lab.record.summary import Estimate, LevelSummary, MetricSummary, Summary, TrialSummary
from tests.labs import METRICS

CPU = "cpu_per_request_total_ms"
MEMORY = "memory_services_mean_mib"

HEAD = "format: tollbooth.claims\nversion: 1\nsource: a paper\nclaims:\n"

# A metric's value of every block, by metric and level.
Values = Mapping[str, Mapping[str, Sequence[float]]]


def study(*tests: str, claim: str = "X1") -> Study:
    """Return a study of one claim with these tests, each in YAML's flow style without its metrics (CPU)."""
    lines = [f"      - {{metrics: [{CPU}], {test}}}\n" for test in tests]
    return parse_claims(f"{HEAD}  {claim}:\n    says: so it is\n    tests:\n{''.join(lines)}", "paper", METRICS)


def summary(values: Values, noise_floor: float | None = 0.02, margin: float = 0.05) -> Summary:
    """Return the summary of a run with these values: its trials and what claims read beside them."""
    levels = list(dict.fromkeys(level for by_level in values.values() for level in by_level))
    blocks = max(len(column) for by_level in values.values() for column in by_level.values())
    return Summary.model_construct(
        experiment="batching",
        title="A title",
        baseline="baseline",
        placebo="placebo",
        compared_with=("baseline",),
        confidence=0.95,
        equivalence_margin=margin,
        metrics={metric: MetricSummary(title=metric, unit="ms", better="lower") for metric in values},
        levels={level: LevelSummary(settings={}, trials=blocks, rejected=0) for level in levels},
        estimates=[
            Estimate(metric=metric, level="placebo", baseline="baseline", mean=1.0, n=blocks, noise_floor=noise_floor)
            for metric in values
        ],
        trials=[
            TrialSummary.model_construct(
                trial=f"{block}-{level}",
                level=level,
                block=block,
                valid=True,
                reasons=[],
                values={
                    metric: by_level[level][block]
                    for metric, by_level in values.items()
                    if block < len(by_level.get(level, ()))
                },
            )
            for level in levels
            for block in range(blocks)
        ],
    )


def judged(study: Study, run: Summary) -> Judged:
    """Return the verdict on a study's only claim."""
    (found,) = judge(run, [study], seed=1).claims
    return found


def drawn(
    rng: np.random.Generator, truth: Mapping[str, float], blocks: int, noise: float = 0.03
) -> dict[str, dict[str, list[float]]]:
    """Draw CPU of each level: its true value, noise of each trial, and drift of up to ±50 % that a block shares."""
    drift = np.exp(rng.uniform(-0.4, 0.4, blocks))
    return {
        CPU: {level: (value * drift * np.exp(rng.normal(0, noise, blocks))).tolist() for level, value in truth.items()}
    }
