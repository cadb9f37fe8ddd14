"""If no complete trace of a load arrived, the trace of a second start of the same containers is examined."""

from pathlib import Path

import pytest

from lab.engine import images
from lab.record.files import read_json
from lab.target.mesh.delivery import SECOND_REQUESTS, delivered
from tests.contract.deployed import FOLDER, QUICK_START, running, timed_requests
from tests.labs import level

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(300)]

# Not the topology of `test_variants`, which may run at the same time: it names the Compose project.
PAIR = FOLDER / "pair.yaml"
# The SDK sends nothing while the test runs: the spans that a killed service holds are lost.
KEEPS = {**QUICK_START, "OTEL_BSP_SCHEDULE_DELAY": "600000"}


@pytest.fixture(scope="module", autouse=True)
def the_images() -> None:
    images.ensure(("services", "jaeger"), print)


def test_services_start_once_more_where_only_rests_of_traces_are_left(tmp_path: Path) -> None:
    of, out = level("manual", "otel-manual", environment=KEEPS), tmp_path / "out"
    with running(of, PAIR, out) as (system, backend):
        ready = {path.name: path.read_bytes() for path in (out / "ready").iterdir()}
        timed_requests(system, "a1", 1)
        system.driver.kill(["a1"])
        system.driver.stop(list(system.topology.nodes))
        found = delivered(system)
        assert (found.trace_difference, found.trace_of_second_start) == (None, True)
        spans = system.topology.expected_spans("a1")
        assert found.spans_in_trace == len(read_json(out / "trace.json", "tollbooth.trace", 1)["spans"]) == spans
        assert found.backend is not None
        of_the_load = found.backend.accepted_spans
        assert of_the_load is not None
        assert 0 < of_the_load < spans
        assert backend.accepted_spans() == of_the_load + SECOND_REQUESTS * spans
        assert {path.name: path.read_bytes() for path in (out / "ready").iterdir()} == ready
