"""Every pipeline of collector/pipelines, in each release of the Collector: what comes back of what was sent."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.engine import images
from tests.contract.collected import PIPELINES, RELEASES, SPANS, collecting

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(300)]

Rows = list[dict[str, str]]
CURRENT, *EARLIER = RELEASES
# What the earlier release does with traces takes another two minutes: `pytest -m long`.
each_release = pytest.mark.parametrize(
    "release", [CURRENT, *(pytest.param(one, marks=pytest.mark.long) for one in EARLIER)]
)
RETURN = {
    "RETURN_ENDPOINT": "traces:4317",
    "RETURN_URL": "http://traces:4318",
    "DECISION_WAIT": "1s",
    "GROUP_WAIT": "200ms",
}
# 400 traces of 4 spans. A share of 25 % of them is within 15 to 35 % but for one run in 100,000.
TRACES_PER_S, DURATION_S = 200, 2


def share(rows: Rows) -> float:
    return sum(row["outcome"] == "success" for row in rows) / len(rows)


def all_come_back(rows: Rows) -> None:
    assert {row["outcome"] for row in rows} == {"success"}


def a_quarter_comes_back(rows: Rows) -> None:
    assert {row["outcome"] for row in rows} == {"success", "receive timeout"}
    assert 0.15 < share(rows) < 0.35
    assert {row["spans_received"] for row in rows} == {"0", str(SPANS)}


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
    "sample": a_quarter_comes_back,
    "span-metrics": all_come_back,
    "tail-sampling": errors_and_a_quarter_come_back,
}
# They send to a fixed place.
ONE_WAY = {"discard", "discard-unbatched", "recommended"}


@pytest.fixture(scope="module", autouse=True)
def the_images() -> None:
    images.ensure([*RELEASES, "traces", "sink"], print)


def test_each_pipeline_has_an_expectation() -> None:
    assert EXPECTED.keys() | ONE_WAY == {path.stem for path in PIPELINES.glob("*.yaml")}


@pytest.mark.parametrize("path", sorted(PIPELINES.glob("*.yaml")), ids=lambda path: path.stem)
@pytest.mark.parametrize("release", RELEASES)
def test_the_collector_accepts_it(release: str, path: Path) -> None:
    image = images.references([release])[release]
    command = ["docker", "run", "--rm", "--network", "none", "--volume", f"{PIPELINES}:/pipelines:ro", image]
    done = subprocess.run(
        [*command, "validate", "--config", f"/pipelines/{path.name}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("pipeline", EXPECTED)
@each_release
def test_what_comes_back_is_as_the_pipeline_says(release: str, pipeline: str, tmp_path: Path) -> None:
    with collecting(release, pipeline, tmp_path / "out", RETURN) as collected:
        rows = collected.returned(TRACES_PER_S, DURATION_S)
    assert len(rows) == TRACES_PER_S * DURATION_S
    assert {row["spans_sent"] for row in rows} == {str(SPANS)}
    EXPECTED[pipeline](rows)


# Beyond the three extra attributes of each span: `risky` on one span; then none; then `checked` and `copy` on all.
@pytest.mark.parametrize(
    ("pipeline", "beyond"), [("basic", [0, 0, 0, 1]), ("mutate", [0] * 4), ("mutate-several", [2] * 4)]
)
@each_release
def test_attributes_are_removed_and_added(release: str, pipeline: str, beyond: list[int], tmp_path: Path) -> None:
    with collecting(release, pipeline, tmp_path / "out", {}) as collected:
        attributes = collected.delivered(duration_s=2)
    assert attributes == [3 + more for more in beyond]
