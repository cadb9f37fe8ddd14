"""Which trace is examined: one that the backend kept of the load or, if none is complete, one of a second start."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.backend import BACKENDS
from lab.backend.http import Http
from lab.fault.kinds import parse_fault
from lab.record.files import read_json
from lab.record.trial import BackendRecord, DeliveryPart
from lab.target.mesh import delivery
from lab.target.mesh.settings import MeshLevel
from lab.target.mesh.system import System
from lab.target.mesh.topology import load_topology
from tests import benches
from tests.fake import FakeBackend, FakeClock, FakeDriver
from tests.labs import MESH, level

TRACED = level("manual", "otel-manual")
CHAIN = benches.ROOT / "experiments" / "topologies" / "chain.yaml"


class Requests:
    """Requests that the lab made itself. The backend's newest trace is `before` them, then one that is whole."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, before: int) -> None:
        self.paths: list[tuple[int, str]] = []
        whole = FakeBackend().newest_trace("gateway")
        assert whole is not None
        self.whole: dict[str, Any] = whole
        requests = self

        class Keeping(FakeBackend):
            def newest_trace(self, entry: str) -> dict[str, object] | None:
                return requests.whole if requests.paths else cut(requests.whole, before)

            def accepted_spans(self) -> int | None:
                return 12_300 + 123 * len(requests.paths)

        monkeypatch.setitem(BACKENDS, "jaeger", Keeping)

        def send(entry: Http, method: str, port_variable: str, path: str) -> tuple[int, bytes]:
            requests.paths.append((entry.port(port_variable), path))
            return 200, b""

        monkeypatch.setattr(Http, "send", send)


def cut(trace: Mapping[str, Any], spans: int) -> dict[str, object] | None:
    """As many of a trace's spans; more than it has: with a span of another."""
    extra = [{**trace["spans"][-1], "id": "extra"}] if spans > len(trace["spans"]) else []
    return {**trace, "spans": [*trace["spans"][:spans], *extra]} if spans else None


def created(driver: FakeDriver, out: Path, of: MeshLevel = TRACED) -> System:
    """A system whose containers are created."""
    system = MESH.deployment(of, benches.place(driver), out)
    system.deploy({})
    return system


def delivered(driver: FakeDriver, out: Path, of: MeshLevel = TRACED) -> DeliveryPart:
    """What a start leaves whose services were stopped after the load."""
    system = created(driver, out, of)
    system.ready()
    driver.stop(list(system.topology.nodes))
    driver.done.clear()
    return delivery.delivered(system)


def test_a_whole_trace_of_the_load_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests, driver = Requests(monkeypatch, before=123), FakeDriver()
    found = delivered(driver, tmp_path / "out")
    assert (found.spans_in_trace, found.trace_difference, found.trace_of_second_start) == (123, None, False)
    assert found.expected_spans_per_request == 123
    assert not requests.paths
    assert not driver.done


@pytest.mark.parametrize("rest", [0, 2, 122])
def test_where_only_rests_are_kept_the_services_start_again_and_are_called(
    rest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests, driver = Requests(monkeypatch, before=rest), FakeDriver()
    found = delivered(driver, tmp_path / "out")
    assert (found.spans_in_trace, found.trace_difference, found.trace_of_second_start) == (123, None, True)
    assert driver.done == ["start", "stop"]
    assert not driver.running & {"gateway", "a1", "a2", "a3", "a4"}
    assert requests.paths == [(8080, "/a1")] * delivery.SECOND_REQUESTS
    assert read_json(tmp_path / "out" / "trace.json", "tollbooth.trace", 1) == requests.whole


def test_what_it_requests_itself_does_not_count_as_the_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Requests(monkeypatch, before=2)
    found = delivered(FakeDriver(), tmp_path / "out")
    assert found.backend == BackendRecord(accepted_spans=12_300, counters={})


def test_what_a_backend_counted_after_it_was_killed_is_no_count_of_the_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Requests(monkeypatch, before=123)
    killed = {"kind": "killed", "target": "jaeger", "start_s": 1, "length_s": 5}
    settings = TRACED.settings.model_copy(update={"faults": (parse_fault(killed),)})
    for of, accepted in ((TRACED, 12_300), (replace(TRACED, settings=settings), None)):
        part = delivery.delivered(created(FakeDriver(), tmp_path / str(accepted), of))
        assert part.backend is not None
        assert part.backend.accepted_spans == accepted


def test_the_files_of_the_measured_start_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Requests(monkeypatch, before=2)
    ready, driver = tmp_path / "out" / "ready", FakeDriver()
    system = created(driver, tmp_path / "out")
    (ready / "a1.json").write_text("the measured one's")
    (ready / "a1.17.collapsed").write_text("a profile")
    delivery.delivered(system)
    assert {path.name: path.read_text() for path in ready.iterdir()} == {
        "a1.json": "the measured one's",
        "a1.17.collapsed": "a profile",
    }
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"ready", "topology.json", "trace.json"}


def test_more_spans_than_predicted_are_no_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests, driver = Requests(monkeypatch, before=124), FakeDriver()
    found = delivered(driver, tmp_path / "out")
    assert (found.spans_in_trace, found.trace_of_second_start) == (124, False)
    assert found.trace_difference
    assert not requests.paths


def test_where_nothing_is_to_be_traced_a_trace_is_wrong_whatever_is_kept_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = Requests(monkeypatch, before=2)
    found = delivered(FakeDriver(), tmp_path / "out", level("off", "otel-manual", traces="none"))
    assert found.trace_difference == "no request was to be traced"
    assert not requests.paths


def test_a_sampled_level_may_have_no_trace_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = Requests(monkeypatch, before=0)
    found = delivered(FakeDriver(), tmp_path / "out", level("some", "otel-manual", traces="sampled"))
    assert found.trace_difference is None
    assert found.expected_spans_per_request is None
    assert not requests.paths


def test_a_second_start_that_fails_rejects_the_trial_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Requests(monkeypatch, before=2)
    driver = FailsTheSecondTime()
    found = delivered(driver, tmp_path / "out")
    assert found.spans_in_trace == 2
    why = "no other trace is available: container a3 was not ready after 180 s"
    assert str(found.trace_difference).endswith(why)
    assert (tmp_path / "out" / "ready" / "a3.json").exists()


class FailsTheSecondTime(FakeDriver):
    """One service does not come up again."""

    def __init__(self) -> None:
        super().__init__(FakeClock())

    def start(self, services: Any) -> None:
        super().start(services)
        self.never_ready = "a3"


def test_what_only_speaks_grpc_is_not_called_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    requests, driver = Requests(monkeypatch, before=2), FakeDriver()
    system = created(driver, tmp_path / "out")
    only_grpc = replace(system.parts, topology=load_topology(CHAIN))
    found = delivery.delivered(replace(system, parts=only_grpc))
    assert str(found.trace_difference).endswith("no other trace is available: the lab itself does not speak gRPC")
    assert not requests.paths


def test_a_request_without_an_answer_rejects_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Requests(monkeypatch, before=2)

    def fail(entry: Http, method: str, port_variable: str, path: str) -> tuple[int, bytes]:
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr(Http, "send", fail)
    found = delivered(FakeDriver(), tmp_path / "out")
    assert str(found.trace_difference).endswith("no other trace is available: refused")
