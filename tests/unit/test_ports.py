"""Ports come from compose.yaml, and a busy one is named with what to do."""

import socket
from pathlib import Path

import pytest
import yaml

from lab.engine import ports
from lab.errors import UserError
from lab.load import GENERATORS

COMPOSE = """
services:
  gateway: {ports: ["127.0.0.1:${GATEWAY_PORT:-8080}:8080"]}
  svc-a: {}
"""


def test_variables_override_defaults() -> None:
    assert ports.published(COMPOSE, {}) == {"gateway": {"GATEWAY_PORT": 8080}, "svc-a": {}}
    assert ports.published(COMPOSE, {"GATEWAY_PORT": "9000"})["gateway"] == {"GATEWAY_PORT": 9000}


@pytest.mark.parametrize("text", ["eighty", "0", "70000", "-1", "8080 "])
def test_what_is_no_port_is_rejected(text: str) -> None:
    with pytest.raises(UserError, match="GATEWAY_PORT="):
        ports.published(COMPOSE, {"GATEWAY_PORT": text})


def test_a_busy_port_is_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        monkeypatch.setenv("GATEWAY_PORT", str(number))
        with pytest.raises(UserError) as caught:
            ports.require_free(["gateway"])
        ports.require_free(["gateway"], held_by=["gateway"])
    assert f"port {number} on 127.0.0.1, wanted for gateway, is in use" in caught.value.message
    assert "GATEWAY_PORT=<port>" in caught.value.hint
    ports.require_free(["gateway"])


def test_every_published_port_of_the_lab_is_on_loopback_and_read_by_us() -> None:
    compose = (Path(ports.ROOT) / "compose.yaml").read_text()
    # A service behind a guard leaves its port to it: that is no published one.
    lines = [line for line in compose.splitlines() if "_PORT" in line and "x-behind" not in line]
    found = [variable for service in ports.published(compose, {}).values() for variable in service]
    # Two services that never run together may share a block of ports.
    assert len(set(found)) == len(lines) > 0
    assert all("127.0.0.1:" in line for line in lines)


def test_no_load_generator_of_a_trial_has_a_page() -> None:
    """Any site could make Locust's send more load, or none. In `make up` it is behind a guard."""
    services = yaml.safe_load((Path(ports.ROOT) / "compose.yaml").read_text())["services"]
    assert all("ports" not in services[generator.service] for generator in GENERATORS.values())
    assert "--headless" in services["locust"]["command"]


def test_where_the_engine_chooses_it_gets_the_services_own_port() -> None:
    choice = ports.engines_choice()
    assert choice["JAEGER_PORT"] == choice["GATEWAY_PORT"] == "0"
    requested: list[tuple[str, int]] = []

    def published_port(service: str, port: int) -> int:
        requested.append((service, port))
        return 40_000

    # The same variable is that of both kinds of Jaeger, of which one is there.
    assert ports.chosen(("jaeger-badger",), published_port)("JAEGER_METRICS_PORT") == 40_000
    assert requested == [("jaeger-badger", 8888)]
