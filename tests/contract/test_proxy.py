"""Envoy takes every configuration of the target `proxy`, and its spans add up: the ledger and its controls."""

import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from lab.command import paths
from lab.engine import OBSERVER, SystemClock, images, wait_until
from lab.engine.compose import PROJECT
from lab.engine.envoy_check import rejections
from lab.record.results import read_results
from lab.target.proxy.configuration import load, text
from lab.target.proxy.deployment import ROUTES, ProxyDeployment
from lab.target.proxy.settings import NEEDS, ProxyLevel, ProxyLevelSettings
from tests.contract.deployed import Remembering, apart, provide

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

SOURCE = load(paths.ROOT / "envoy" / "proxy")
VALUES: dict[str, Any] = {
    "release": "1.39",
    "workers": 2,
    "random_sampling_percent": 12.5,
    "min_flush_spans": 125,
    "flush_interval_ms": 1000,
    "export_timeout_ms": 250,
    "receiver_max_requests": 5,
    "max_cache_size": 2048,
    "sampler_percent": 0.1,
    "traceparent_sampled": True,
    "runtime_change": {"tracing.opentelemetry.min_flush_spans": 9},
    "export_retries": 2,
}


@pytest.fixture(scope="module")
def image() -> str:
    images.ensure(["envoy"], print)
    return images.references(["envoy"])["envoy"]


def level(tracer: str, **given: object) -> str:
    return text(SOURCE, ProxyLevelSettings.model_validate({"tracer": tracer, **given}))


def test_every_tracer_with_each_of_its_settings_and_with_all(image: str) -> None:
    assert VALUES.keys() == NEEDS.keys()
    texts = {"none.json": level("none")}
    for tracer, receiver in itertools.product(SOURCE.tracers, ("collector", "sink")):
        own = {name: value for name, value in VALUES.items() if tracer in NEEDS[name]}
        for name, value in own.items():
            texts[f"{tracer}-{receiver}-{name}.json"] = level(tracer, receiver=receiver, **{name: value})
        texts[f"{tracer}-{receiver}-all.json"] = level(tracer, receiver=receiver, **own)
    texts["always-on.json"] = level("opentelemetry-grpc", sampler_percent=100.0)
    assert rejections(texts, image) == {}


REQUESTS = 200


def project() -> str:
    """Of the module whose test runs: other modules' tests may run at the same time."""
    module = Path(os.environ["PYTEST_CURRENT_TEST"].partition("::")[0]).stem
    return f"{PROJECT}-contract-{module}"


@contextmanager
def running(
    out: Path, generators: Sequence[str] = (), variables: Mapping[str, str] = MappingProxyType({}), **given: object
) -> Iterator[ProxyDeployment]:
    """A proxy of a level, ready, with ports that the engine chose; removed afterwards. Generators are only created."""
    driver = Remembering(paths.ROOT, out.parent / "scratch", project())
    settings = ProxyLevelSettings.model_validate({"server_delay_ms": 0, "flush_interval_ms": 500, **given})
    provide(settings.image, "testserver", "sink", "collector", "observer", *generators)
    where = apart(driver, out)
    system = ProxyDeployment(SOURCE, ProxyLevel("x", settings), where, out)
    driver.remove()
    try:
        system.deploy(variables, (OBSERVER, *generators))
        system.ready(())
        yield system
    finally:
        driver.remove()


def send(system: ProxyDeployment) -> None:
    """Send the requests one after the other."""
    for _ in range(REQUESTS):
        assert system.http.get("PROXY_PORT", f"/{ROUTES[0]}") == b"0123456789"


def ledger(system: ProxyDeployment) -> Mapping[str, float]:
    """Return what everyone counted, once nothing is on its way."""
    system.drain()
    return read_results(system.out / "results-proxy.json").values


@pytest.mark.parametrize(
    ("tracer", "receiver"),
    [
        ("opentelemetry-grpc", "collector"),
        ("opentelemetry-http", "collector"),
        ("opentelemetry-grpc", "sink"),
        ("opentelemetry-http", "sink"),
        ("zipkin-json", "sink"),
        ("zipkin-protobuf", "sink"),
    ],
)
def test_of_a_healthy_system_every_span_arrives(tracer: str, receiver: str, tmp_path: Path) -> None:
    with running(tmp_path / "out", tracer=tracer, receiver=receiver, min_flush_spans=7) as system:
        send(system)
        found = ledger(system)
    assert found["requests_proxied"] == found["requests_at_server"] == found["requests_sampled"] == REQUESTS
    assert found["spans_sent"] == found["spans_accepted"] == REQUESTS
    assert found["spans_dropped"] == found["spans_refused"] == 0
    # Seven spans each, and at most one more export at each of the timer's flushes.
    assert REQUESTS / 7 <= found["exports"] <= REQUESTS / 7 + found["timer_flushes"] + 1
    # Every tracer says at least what was requested, by whom, and what was answered.
    assert found["attributes_per_span"] > 5


def all_exports_ended(system: ProxyDeployment) -> bool:
    """Whether Envoy has sent every span, and waits for no answer and no connection, which might still come."""
    answer = system.http.get("PROXY_ADMIN_PORT", "/stats?format=json&filter=spans_sent%7Creceiver.*_active")
    found = {stat["name"]: stat["value"] for stat in json.loads(answer)["stats"]}
    waiting = ("upstream_rq_active", "upstream_rq_pending_active")
    ended = not any(found[f"cluster.receiver.{name}"] for name in waiting)
    return ended and found["tracing.opentelemetry.spans_sent"] == REQUESTS


def test_with_a_receiver_that_is_gone_the_residual_is_all_that_was_sent(tmp_path: Path) -> None:
    with running(tmp_path / "out", tracer="opentelemetry-grpc", receiver="collector") as system:
        system.place.driver.kill(["collector"])
        send(system)
        assert wait_until(lambda: all_exports_ended(system), 30.0, 0.2, SystemClock())
        # It counts from zero again.
        system.ready(())
        found = ledger(system)
    assert (found["spans_sent"], found["spans_dropped"], found["spans_accepted"]) == (REQUESTS, 0, 0)
    assert found["export_connections_failed"] > 0


def test_more_spans_than_may_wait_are_dropped(tmp_path: Path) -> None:
    given = {"min_flush_spans": 2048, "max_cache_size": 50, "flush_interval_ms": 20_000}
    with running(tmp_path / "out", tracer="opentelemetry-grpc", receiver="sink", **given) as system:
        send(system)
        found = ledger(system)
    # Envoy 1.40 drops the span that finds the cache full, and exports what is in it: one of 51 spans is dropped.
    assert found["spans_dropped"] == REQUESTS // 51
    assert found["spans_sent"] == found["spans_accepted"] == REQUESTS - found["spans_dropped"]


@pytest.mark.parametrize(("given", "spans"), [({"random_sampling_percent": 0.0}, 0), ({"sampler_percent": 0.0}, 0)])
def test_what_is_not_sampled_makes_no_span(given: Mapping[str, object], spans: int, tmp_path: Path) -> None:
    with running(tmp_path / "out", tracer="opentelemetry-grpc", receiver="sink", **given) as system:
        send(system)
        found = ledger(system)
    assert (found["requests_proxied"], found["spans_sent"]) == (REQUESTS, spans)
