"""What a running Envoy does when the threshold of exports is changed."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.engine import SystemClock, wait_until
from lab.record.traces import read_exports
from lab.target.proxy.changing import RECORD
from lab.target.proxy.deployment import ADMIN, ProxyDeployment
from tests.contract.test_proxy import REQUESTS, running, send

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

KEY = "tracing.opentelemetry"
EXPORTS = "cluster.receiver.upstream_rq_total"
NEVER_MS = 60_000


def counters(system: ProxyDeployment) -> Mapping[str, int]:
    return system._counters()


def reached(system: ProxyDeployment, counter: str, value: int) -> bool:
    """Whether a counter reaches a value: Envoy adds up its threads' counts every now and then."""
    return wait_until(lambda: counters(system).get(counter, 0) >= value, 60.0, 0.1, SystemClock())


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


def sent_since_the_change(system: ProxyDeployment) -> int:
    """Send requests; return the spans that were exported since the level's change, as far as it was recorded."""
    send(system)
    fields = read_exports(system.out / RECORD)
    spans = fields["spans_sent"].values[fields["changes"].values == 1]
    return int(spans[-1] - spans[0]) if len(spans) else 0


def test_a_level_changes_the_threshold_in_its_window(tmp_path: Path) -> None:
    changes = {"runtime_change": {f"{KEY}.min_flush_spans": 10}, "runtime_change_after_s": 2}
    given = {"min_flush_spans": 1, "flush_interval_ms": NEVER_MS, **changes}
    with running(tmp_path / "out", tracer="opentelemetry-grpc", receiver="sink", **given) as system:
        with system.measuring(system.level, 0, 0.0):
            assert wait_until(lambda: sent_since_the_change(system) >= 3 * REQUESTS, 60.0, 0.0, SystemClock())
        fields = read_exports(system.out / RECORD)
    exports, spans, changed = (fields[name].values for name in ("exports", "spans_sent", "changes"))
    made = int(changed.argmax())
    assert spans[made - 1] - spans[0] == pytest.approx(exports[made - 1] - exports[0], abs=2)
    assert spans[-1] - spans[made] == pytest.approx(10 * (exports[-1] - exports[made]), abs=20)
