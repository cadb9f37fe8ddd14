"""The exporter model in the place of Envoy: its spans add up, and only a loop that waits is stalled by the receiver."""

from pathlib import Path

import pytest

from lab.target.proxy.settings import MODEL
from tests.contract.test_proxy import REQUESTS, ledger, running, send
from tests.contract.test_proxy_sick import behave, timed

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

THRESHOLD = 25
DELAY_MS, NEVER_MS = 50, 60_000


@pytest.mark.parametrize("tracer", sorted(MODEL))
@pytest.mark.parametrize("receiver", ["sink", "collector"])
def test_of_a_healthy_system_every_span_arrives(tracer: str, receiver: str, tmp_path: Path) -> None:
    with running(tmp_path / "out", tracer=tracer, receiver=receiver, min_flush_spans=7) as system:
        send(system)
        found = ledger(system)
    assert found["requests_proxied"] == found["requests_at_server"] == REQUESTS
    assert found["spans_sent"] == found["spans_accepted"] == REQUESTS
    assert found["spans_dropped"] == found["spans_refused"] == 0
    assert 1 <= found["exports"] <= REQUESTS / 7 + found["timer_flushes"] + 1
    assert found["attributes_per_span"] > 5


@pytest.mark.parametrize("tracer", sorted(MODEL - {"model-waiting"}))
def test_a_receiver_that_does_not_answer_stalls_no_request(tracer: str, tmp_path: Path) -> None:
    given = {"min_flush_spans": THRESHOLD, "flush_interval_ms": NEVER_MS}
    with running(tmp_path / "out", tracer=tracer, receiver="sink", **given) as system:
        behave(system, behaviour="slow", delay_ms=NEVER_MS)
        # Every export waits a minute. A loop that waited, too, would not be done within the test's time.
        send(system)


def test_a_receiver_that_answers_late_stalls_the_loop_that_waits(tmp_path: Path) -> None:
    given = {"min_flush_spans": THRESHOLD, "flush_interval_ms": NEVER_MS}
    with running(tmp_path / "out", tracer="model-waiting", receiver="sink", **given) as system:
        behave(system, behaviour="slow", delay_ms=DELAY_MS)
        took_s = timed(system)
    # The last export is waited for by nobody.
    assert took_s > (REQUESTS / THRESHOLD - 1) * DELAY_MS / 1000
