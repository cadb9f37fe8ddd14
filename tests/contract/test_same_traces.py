"""Backends show the traces of `otel-streaming` as those of `otel-manual`, attribute by attribute (shown.py)."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path

import pytest

from lab.backend import BACKENDS, Backend
from lab.engine import images, ports
from lab.engine.clock import wait_until
from lab.engine.driver import Stack
from lab.target.mesh.system import READY_BOUND_S, System
from tests.contract.deployed import FOLDER, QUICK_START, Remembering, provide, running
from tests.contract.shown import Shown, drawn, in_collector, in_jaeger, in_zipkin
from tests.labs import level

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(600)]

RELEASE = "collector-earlier"
WITHIN_S = 60.0
RECENT = "limit=50&lookback"

# A span has the port of the host that its request names. The one that is published differs between starts.
HOST = {"Host": "gateway:8080"}
CALLER = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "lab=1,other=2",
    "baggage": "user=x",
}
# Route, headers, and the answer's status.
REQUESTS = (("a1", HOST, 200), ("a1", {**HOST, **CALLER}, 200), ("broken", HOST, 502))
SPANS = 9 + 9 + 5

Look = Callable[[], Sequence[Shown]]


class FanOut(Remembering):
    """Gives a system a Collector that shows what it takes, and sends it on to Jaeger and Zipkin."""

    def create(self, stack: Stack) -> None:
        """See `Driver.create`. Zipkin starts at once."""
        collector = {
            "image": images.references([RELEASE])[RELEASE],
            "volumes": [f"{FOLDER}/alike-collector.yaml:/etc/otelcol/config.yaml:ro"],
        }
        services = stack.overlay["services"]
        assert isinstance(services, dict)
        overlay: dict[str, object] = {"services": {**services, "collector": collector}}
        super().create(replace(stack, services=(*stack.services, "zipkin"), overlay=overlay))
        self.start(["zipkin"])


def behind_collector(system: System, backend: Backend) -> Mapping[str, Look]:
    """What shows the traces that a `FanOut` has taken, by name."""
    zipkin = BACKENDS["zipkin"](ports.chosen(["zipkin"], system.driver.published_port))
    assert wait_until(zipkin.ready, READY_BOUND_S, 0.1, system.place.clock)
    query = f"/api/v2/traces?{RECENT}=3600000"
    return {
        "collector": lambda: in_collector("\n".join(system.driver.last_log_lines("collector", 10_000))),
        "zipkin": lambda: in_zipkin(json.loads(zipkin.http.get("ZIPKIN_PORT", query))),
        **at_jaeger(system, backend),
    }


def at_jaeger(system: System, backend: Backend) -> Mapping[str, Look]:
    """What shows the traces that Jaeger has taken."""
    query = f"/api/traces?service=gateway&{RECENT}=1h"
    return {"jaeger": lambda: in_jaeger(json.loads(backend.http.get("JAEGER_PORT", query))["data"])}


# By the level's backend: the driver, and what shows traces.
BEHIND = {"jaeger": (Remembering, at_jaeger), "collector": (FanOut, behind_collector)}


def shown(telemetry: str, backend: str, out: Path) -> Mapping[str, str]:
    """Send the requests to a fresh system; return all traces as text, by the name of what shows them."""
    environment = {**QUICK_START, "TOLLBOOTH_EXTRA_ATTRIBUTES": "3"}
    driver, behind = BEHIND[backend]
    of = level(telemetry, telemetry, backend=backend, environment=environment)
    with running(of, FOLDER / "alike.yaml", out, kind=driver) as (system, its_backend):
        looks = behind(system, its_backend)
        send(system)
        return {name: complete(name, look, system) for name, look in looks.items()}


def send(system: System) -> None:
    port = ports.chosen(["gateway"], system.driver.published_port)("GATEWAY_PORT")
    for route, headers, status in REQUESTS:
        request = urllib.request.Request(f"http://127.0.0.1:{port}/{route}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=WITHIN_S) as answer:
                assert answer.status == status
        except urllib.error.HTTPError as error:
            assert error.code == status


def complete(name: str, look: Look, system: System) -> str:
    """Return the text once all spans are shown."""
    assert wait_until(lambda: len(look()) >= SPANS, WITHIN_S, 0.2, system.place.clock), (name, len(look()))
    spans = look()
    assert len(spans) == SPANS
    return drawn(spans)


@pytest.mark.parametrize("backend", BEHIND)
def test_a_backend_shows_the_same_traces(backend: str, tmp_path: Path) -> None:
    provide("services", "jaeger", "zipkin", RELEASE)
    by_hand, streamed = (
        shown(tracer, backend, tmp_path / tracer / "out") for tracer in ("otel-manual", "otel-streaming")
    )
    for name, text in by_hand.items():
        assert all(
            key in text for key in ("telemetry.sdk.name", "tollbooth.extra.attribute_1", "error.type", "lab=1,other=2")
        )
        differences = "\n".join(unified_diff(text.splitlines(), streamed[name].splitlines(), name, n=0, lineterm=""))
        assert not differences, differences
