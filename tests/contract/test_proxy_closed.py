"""A closed loop without pauses, from fortio's container through Envoy to the test server."""

from pathlib import Path

import pytest

from lab.engine import start_failed
from lab.load import LoadPlan, Stage
from lab.load.fortio import Fortio, FortioLoad
from lab.record import read_requests
from lab.spec import Protocol
from tests.contract.test_proxy import ledger, running

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

CONNECTIONS = 8
DELAY_MS = 10
LOAD = {"generator": "fortio", "schedule": {"kind": "saturated", "connections": CONNECTIONS}}


def test_each_connection_sends_as_soon_as_it_was_answered(tmp_path: Path) -> None:
    generator = Fortio()
    variables = {"LOAD_TARGET": "proxy:8080"}
    with running(tmp_path / "out", [generator.service], variables, server_delay_ms=DELAY_MS) as system:
        plan = LoadPlan(
            FortioLoad.model_validate(LOAD),
            Protocol.model_validate({"repetitions": 1, "warm_up_s": 1, "window_s": 2}),
            system.endpoint(),
            CONNECTIONS,
            1,
        )
        driver = system.place.driver
        stage = Stage(driver, system.place.clock, system.out, lambda *said: start_failed(driver, *said))
        generator.begin(plan, stage)
        loaded = generator.measure(plan, stage, {})
        generator.end(stage)
        found = ledger(system)
    assert loaded.requests
    sent = read_requests(loaded.requests)
    assert set(sent.status.tolist()) == {200}
    assert set(sent.bytes.tolist()) == {10}
    assert set(sent.user.tolist()) == set(range(CONNECTIONS))
    took_ns = sent.end_ns - sent.start_ns
    assert took_ns.min() >= DELAY_MS * 1_000_000
    # Connections hardly ever pause: together they are busy for most of the time.
    lasted_ns = sent.last_end_ns() - sent.first_start_ns()
    assert took_ns.sum() > 0.8 * CONNECTIONS * lasted_ns
    # The warm-up is counted, and recorded, too.
    assert found["requests_proxied"] == found["requests_at_server"] == len(sent)
