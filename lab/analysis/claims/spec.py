"""What a claims file says: the files of `experiments/claims/`, as frozen models (format: docs/reference/formats.md)."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from lab.analysis.claims.match import Match, match_problems
from lab.errors import UserError
from lab.spec import (
    Problem,
    Shape,
    SpecError,
    Version1,
    dotted,
    find_named_file,
    parse_yaml,
    read_text,
    suggestion,
    user_error,
    validate,
)

ClaimId = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,30}$")]
LevelRef = Annotated[str, Field(min_length=1, max_length=200)]
Metrics = Annotated[list[str], Field(min_length=1, description="metrics of the summary; the test is made on each")]
Margin = Annotated[float, Field(ge=0.001, le=1)]
Reason = Annotated[str, Field(min_length=1, max_length=1000)]
Bound = Annotated[float, Field(ge=0.01, le=100)]
Limit = Annotated[float, Field(ge=0, le=1e9)]
Range = Annotated[tuple[Limit, Limit], Field(strict=False)]

_HINT = "docs/how-to/adding-a-claim.md describes the format; experiments/claims/ has examples"
_MARGIN = "a smaller difference that the data do not decide is reported by its largest size; default 5 %"


class OnMetrics(Shape):
    """What is tested of each of some metrics."""

    metrics: Metrics


class Order(OnMetrics):
    """Each of some levels is below each of others; one against all others says which is best."""

    kind: Literal["order"]
    lower: list[LevelRef] = Field(min_length=1, description="each of these is below each of `higher`")
    higher: list[LevelRef] = Field(min_length=1)
    by_more_than: Literal["noise_floor"] | None = Field(
        default=None, description="the complete interval must also lie beyond the noise floor"
    )
    margin: Margin | None = Field(default=None, description=_MARGIN)
    because: Reason | None = Field(default=None, description="why this margin, or this test")


class Same(OnMetrics):
    """All levels are the same: the ratio of every pair's overheads, or values, is near 1."""

    kind: Literal["same"]
    levels: list[LevelRef] = Field(min_length=2)
    of: Literal["value", "overhead"] = Field(
        default="overhead",
        description="`overhead`: what a level has above the experiment's baseline; with the baseline it is the value",
    )
    margin: Margin = Field(description="ratios from 1/(1 + margin) to 1 + margin are the same")
    because: Reason = Field(description="why this margin, or this test")


class Ranged(OnMetrics):
    """A number of a level lies within a range."""

    level: LevelRef
    within: Range = Field(description="the smallest and the largest number that the claim allows")
    because: Reason = Field(description="why this range")


class OverheadRatio(Ranged):
    """A level's overhead over the baseline is a multiple of another's."""

    kind: Literal["overhead_ratio"]
    to: LevelRef = Field(description="the level whose overhead `level`'s is divided by")
    within: Annotated[tuple[Bound, Bound], Field(strict=False)] = Field(
        description="the smallest and the largest ratio that the claim allows"
    )


class Ratio(Ranged):
    """A level is a multiple of another."""

    kind: Literal["ratio"]
    to: LevelRef = Field(description="the level that `level` is divided by")


class Value(Ranged):
    """A level's own value lies within a range, in the metric's unit."""

    kind: Literal["value"]


class Trend(OnMetrics):
    """A metric rises, falls or stays over levels that follow each other in equal steps."""

    kind: Literal["trend"]
    goes: Literal["up", "down", "nowhere"]
    over: list[LevelRef] = Field(min_length=3, description="in order; equal steps apart, such as halvings")
    steadily: bool = Field(default=False, description="no step goes the other way by more than the margin")
    margin: Margin | None = Field(
        default=None, description=f"`nowhere`: changes that are none; `steadily`: steps back; else {_MARGIN}"
    )
    because: Reason | None = Field(default=None, description="why this margin, or this test")


Test = Annotated[Order | Same | OverheadRatio | Ratio | Value | Trend, Field(discriminator="kind")]


class Claim(Shape):
    """One published claim, and what it says about a summary."""

    says: str = Field(min_length=1, max_length=1000, description="the claim, as published")
    published: str | None = Field(
        default=None, max_length=1000, description="the published numbers, where there are any"
    )
    tests: list[Test] = Field(min_length=1, description="the claim holds where all of these do")


class Figure(Shape):
    """A published number for a metric of a level. It is shown with this run's value; readers compare them."""

    metric: str = Field(description="a metric of the summary")
    level: LevelRef
    published: float = Field(description="in the metric's unit")
    by: str | None = Field(default=None, min_length=1, max_length=120, description="whose it is, in a file of several")


class ClaimsFile(Shape):
    """The claims of one publication."""

    format: Literal["tollbooth.claims"]
    version: Version1
    source: str = Field(min_length=1, max_length=1000, description="who published them, and where")
    claims: Mapping[ClaimId, Claim] = Field(default_factory=dict)
    match: Match | None = Field(default=None, description="of a number that the publication does not state")
    figures: list[Figure] = Field(default_factory=list, description="published numbers to show with this run's values")


class Study(ClaimsFile):
    """A claims file with its name."""

    name: str


def load_claims(references: Sequence[str], folder: Path, metrics: Collection[str]) -> list[Study]:
    """Return what an experiment's `claims` name: each `<file>`, or `<file>:<id>,<id>` for some of its claims.

    `metrics`: the names of the metrics that the experiment's target has.

    Raises `UserError` for an unknown file or claim, and for a wrong file.
    """
    return [_selected(reference, folder, metrics) for reference in references]


def _selected(reference: str, folder: Path, metrics: Collection[str]) -> Study:
    name, colon, listed = reference.partition(":")
    path = find_named_file("claims file", name, folder)
    try:
        study = parse_claims(read_text(path), path.stem, metrics)
    except SpecError as error:
        raise user_error(str(path), error.problems, dotted, _HINT) from None
    ids = [claim.strip() for claim in listed.split(",")] if colon else list(study.claims)
    for claim in ids:
        if claim not in study.claims:
            raise UserError(f"{path}: no claim is called '{claim}'; {suggestion(claim, study.claims)}", _HINT)
    return study.model_copy(update={"claims": {claim: study.claims[claim] for claim in ids}})


def parse_claims(text: str, name: str, metrics: Collection[str]) -> Study:
    """Return the claims that a YAML text describes; `metrics` are the known ones. Raises `SpecError`."""
    file = validate(ClaimsFile, parse_yaml(text))
    problems = [
        Problem(("claims", claim_id, "tests", index, *problem.path), problem.text)
        for claim_id, claim in file.claims.items()
        for index, test in enumerate(claim.tests)
        for problem in (*_unknown_metrics(test.metrics, metrics), *_contradictions(test))
    ]
    problems += [
        Problem(("figures", index, "metric"), problem.text)
        for index, figure in enumerate(file.figures)
        for problem in _unknown_metrics([figure.metric], metrics)
    ]
    problems += match_problems(
        file.match,
        (level for claim in file.claims.values() for test in claim.tests for level in _levels(test)[1]),
        metrics,
    )
    if not file.claims and not file.figures:
        problems.append(Problem(("claims",), "missing; a file has claims, or figures, or both"))
    if problems:
        raise SpecError(problems)
    return Study(**dict(file), name=name)


def _unknown_metrics(named: Sequence[str], metrics: Collection[str]) -> Iterator[Problem]:
    return (
        Problem(("metrics", index), f"unknown metric '{metric}'; {suggestion(metric, metrics)}")
        for index, metric in enumerate(named)
        if metric not in metrics
    )


def _contradictions(test: Test) -> Iterator[Problem]:
    """Yield contradictions between fields."""
    low, high = getattr(test, "within", (0, 1))
    if low >= high:
        yield Problem(("within",), f"the range is upside down: {low:g} is not below {high:g}")
    if isinstance(test, Trend) and test.steadily and test.goes == "nowhere":
        yield Problem(("steadily",), "goes with `up` and `down` only")
    field, levels = _levels(test)
    yield from (
        Problem((field,), f"level '{name}' is named twice and would be compared with itself")
        for name, count in Counter(levels).items()
        if count > 1
    )
    if test.because is None and getattr(test, "margin", None) is not None:
        yield Problem(("because",), "missing; say why this margin is the right one")


def _levels(test: Test) -> tuple[str, list[str]]:
    """Return the levels of a test, and the field that names the last of them."""
    match test:
        case Order():
            return "higher", [*test.lower, *test.higher]
        case Same():
            return "levels", test.levels
        case OverheadRatio() | Ratio():
            return "to", [test.level, test.to]
        case Value():
            return "level", [test.level]
        case Trend():
            return "over", test.over
