"""What the variant `burn` counted reaches the trial's metrics."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from lab.analysis.metrics import values
from lab.analysis.metrics.burn import METRICS
from lab.record import Requests, TrialData, TrialRecord
from lab.record.data import streams_in
from lab.record.results import Results, read_results
from tests import benches
from tests.fake import FakeDriver
from tests.labs import MESH, level

COUNTED = {
    "burner_ran_s": 200.0,
    "burns_in_request": 400.0,
    "burned_in_request_ms": 2400.0,
    "burns_later": 0.0,
    "burned_later_ms": 0.0,
    "burns_idle": 2000.0,
    "burned_idle_ms": 2000.0,
}


class Burning(FakeDriver):
    """An engine whose gateway writes what it burned when it is stopped."""

    def stop(self, services: Sequence[str]) -> None:
        super().stop(services)
        if "gateway" in services:
            record = {"format": "tollbooth.results", "version": 1, "values": COUNTED}
            (self._out / "ready" / "gateway.results.json").write_text(json.dumps(record))


def test_what_a_service_counted_becomes_a_record_of_the_trial(tmp_path: Path) -> None:
    out = tmp_path / "out"
    deployment = MESH.deployment(level("burns", "burn"), benches.place(Burning()), out)
    deployment.deploy({})
    deployment.drain()
    assert streams_in(out)["results"].files == {"gateway": "results-gateway.json"}
    assert read_results(out / "results-gateway.json").values == COUNTED
    assert not list((out / "ready").glob("*.results.json"))


def trial(counted: Results | None, requests: int) -> TrialData:
    sent = np.arange(requests, dtype=np.int64)
    streams = {"requests": {"local": Requests(sent, np.full(requests, "a1"), sent, sent, sent, sent, sent, False)}}
    record = TrialRecord(number=0, attempt=1, block=0, position=0, level="x", settings={})
    return TrialData(record, streams | ({"results": {"gateway": counted}} if counted else {}))


def burned(counted: Results | None, requests: int = 400) -> dict[str, float]:
    return values(trial(counted, requests), {metric.name: metric for metric in METRICS})


def test_burns_are_divided_by_all_requests_and_all_the_time() -> None:
    found = burned(Results(values=COUNTED))
    assert found == {"burned_per_request_ms": pytest.approx(6.0), "burned_idle_cores": pytest.approx(0.01)}


def test_a_request_without_a_burn_lowers_the_burn_per_request() -> None:
    assert burned(Results(values=COUNTED), requests=500)["burned_per_request_ms"] == pytest.approx(4.8)


def test_other_trials_have_no_burn() -> None:
    assert burned(None) == {}
