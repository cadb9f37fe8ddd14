"""Every pipeline of collector/pipelines, in each release of the Collector: what comes back of what was sent."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.engine import images
from tests.contract.collected import (
    MOUNTED,
    PIPELINES,
    RELEASES,
    SPANS,
    Rows,
    Surroundings,
    decoupled,
    sampled,
    surroundings,
)

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(300)]

CURRENT, *EARLIER = RELEASES
# What the earlier release does with traces takes another minute: `pytest -m long`.
each_release = pytest.mark.parametrize(
    "release", [CURRENT, *(pytest.param(one, marks=pytest.mark.long) for one in EARLIER)]
)
RETURN = {
    "RETURN_ENDPOINT": "traces:4317",
    "RETURN_URL": "http://traces:4318",
    "DECISION_WAIT": "1s",
    # On a busy machine some spans of a trace come later than others.
    "GROUP_WAIT": "2s",
}
# 400 traces of 4 spans. A share of 25 % of them is within 15 to 35 % but for one run in 100,000.
TRACES_PER_S, DURATION_S = 400, 1
# Where not everything comes back, the generator waits for so long. A tail sampler decides within two seconds.
RECEIVE_TIMEOUT_MS = {"sample": 3000, "filter-regex": 3000, "tail-sampling": 4000, "edge-tail-sampling": 4000}
# Where all comes back, nothing waits so long unless the machine is busy.
PATIENT_MS = 30_000
NAME = "collector-pipelines"
VALIDATOR = "validator"


def share(rows: Rows) -> float:
    return sum(row["outcome"] == "success" for row in rows) / len(rows)


def all_come_back(rows: Rows) -> None:
    assert {row["outcome"] for row in rows} == {"success"}


def exactly_the_predicted_come_back(rows: Rows) -> None:
    predicted = sampled(rows)
    assert 0.15 < sum(predicted) / len(predicted) < 0.35
    assert [row["spans_received"] for row in rows] == [str(SPANS) if keep else "0" for keep in predicted]
    assert [row["outcome"] for row in rows] == ["success" if keep else "receive timeout" for keep in predicted]


def errors_and_a_quarter_come_back(rows: Rows) -> None:
    failed = [row for row in rows if row["error"] == "1"]
    assert 100 < len(failed) < 300
    all_come_back(failed)
    # Half of the traces, so 25 % is within 10 to 40 % as often.
    assert 0.1 < share([row for row in rows if row["error"] == "0"]) < 0.4


def a_quarter_of_the_spans_is_missing(rows: Rows) -> None:
    sent, received = (sum(int(row[name]) for row in rows) for name in ("spans_sent", "spans_received"))
    assert 0.7 < received / sent < 0.8


EXPECTED: dict[str, Callable[[Rows], None]] = {
    "basic": all_come_back,
    "basic-http": all_come_back,
    "batched": all_come_back,
    "edge": all_come_back,
    "edge-tail-sampling": errors_and_a_quarter_come_back,
    "filter-regex": a_quarter_of_the_spans_is_missing,
    "group-route": all_come_back,
    "memory-limited": all_come_back,
    "mutate": all_come_back,
    "mutate-several": all_come_back,
    "sample": exactly_the_predicted_come_back,
    "span-metrics": all_come_back,
    "tail-sampling": errors_and_a_quarter_come_back,
}
# They send to a fixed place.
ONE_WAY = {"answering", "discard", "discard-unbatched", "recommended"}


@pytest.fixture(scope="module")
def around(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surroundings]:
    images.ensure([*RELEASES, "traces", "sink"], print)
    with surroundings(NAME, tmp_path_factory.mktemp(NAME) / "out", sink=True) as made:
        yield made


def test_each_pipeline_has_an_expectation() -> None:
    assert EXPECTED.keys() | ONE_WAY == {path.stem for path in PIPELINES.glob("*.yaml")}


@pytest.fixture(scope="module", params=RELEASES)
def running(request: pytest.FixtureRequest, around: Surroundings) -> Iterator[Surroundings]:
    """A Collector of a release, in which further ones can be started."""
    with around.collector(request.param, "discard", {}, VALIDATOR):
        yield around


@pytest.mark.parametrize("path", sorted(PIPELINES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_collector_accepts_it(running: Surroundings, path: Path) -> None:
    running.do("exec", VALIDATOR, "/otelcol", "validate", "--config", f"{MOUNTED}/{path.name}")


@pytest.mark.parametrize("pipeline", EXPECTED)
@each_release
def test_what_comes_back_is_as_the_pipeline_says(release: str, pipeline: str, around: Surroundings) -> None:
    how = {**decoupled(TRACES_PER_S), "receive_timeout_ms": RECEIVE_TIMEOUT_MS.get(pipeline, PATIENT_MS)}
    with around.collector(release, pipeline, RETURN):
        rows = around.sent(DURATION_S, how)
    assert len(rows) == TRACES_PER_S * DURATION_S
    assert {row["spans_sent"] for row in rows} == {str(SPANS)}
    EXPECTED[pipeline](rows)


# Beyond the three extra attributes of each span: `risky` on one span; then none; then `checked` and `copy` on all.
@pytest.mark.parametrize(
    ("pipeline", "beyond"), [("basic", [0, 0, 0, 1]), ("mutate", [0] * 4), ("mutate-several", [2] * 4)]
)
@each_release
def test_attributes_are_removed_and_added(release: str, pipeline: str, beyond: list[int], around: Surroundings) -> None:
    with around.collector(release, pipeline, {}):
        attributes = around.delivered(duration_s=0.5)
    assert attributes == [3 + more for more in beyond]
