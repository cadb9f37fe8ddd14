"""What a running Envoy does when the threshold of exports is changed."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.engine import SystemClock, wait_until
from lab.target.proxy.deployment import ADMIN, ProxyDeployment
from tests.contract.test_proxy import REQUESTS, running, send

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

KEY = "tracing.opentelemetry"
EXPORTS = "cluster.receiver.upstream_rq_total"
NEVER_MS = 60_000


def counters(system: ProxyDeployment) -> Mapping[str, int]:
    return system._counters()


def reached(system: ProxyDeployment, counter: str, value: int) -> bool:
    """Whether a counter reaches a value in a few seconds: Envoy adds up its threads' counts every now and then."""
    return wait_until(lambda: counters(system).get(counter, 0) >= value, 20.0, 0.1, SystemClock())


def test_the_threshold_changes_while_it_runs(tmp_path: Path) -> None:
    given = {"min_flush_spans": 1, "flush_interval_ms": NEVER_MS}
    with running(tmp_path / "out", tracer="opentelemetry-grpc", receiver="sink", **given) as system:
        send(system)
        assert reached(system, EXPORTS, REQUESTS)
        system.http.send("POST", ADMIN, f"/runtime_modify?{KEY}.min_flush_spans=10")
        # It is in force for the next request: not one more export of a single span.
        send(system)
        assert reached(system, f"{KEY}.spans_sent", 2 * REQUESTS)
        assert counters(system)[EXPORTS] == REQUESTS + REQUESTS / 10
