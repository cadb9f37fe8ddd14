"""Envoy itself takes every configuration that the target `proxy` can make of envoy/proxy/."""

import itertools
from typing import Any

import pytest

from lab.command import paths
from lab.engine import images
from lab.engine.envoy_check import rejections
from lab.target.proxy.configuration import load, text
from lab.target.proxy.settings import NEEDS, ProxyLevelSettings

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

SOURCE = load(paths.ROOT / "envoy" / "proxy")
VALUES: dict[str, Any] = {
    "random_sampling_percent": 12.5,
    "min_flush_spans": 125,
    "flush_interval_ms": 1000,
    "export_timeout_ms": 250,
    "receiver_max_requests": 5,
    "max_cache_size": 2048,
    "sampler_percent": 0.1,
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
        texts |= {f"{tracer}-{receiver}-{name}.json": level(tracer, receiver=receiver, **{name: own[name]}) for name in own}
        texts[f"{tracer}-{receiver}-all.json"] = level(tracer, receiver=receiver, **own)
    texts["always-on.json"] = level("opentelemetry-grpc", sampler_percent=100.0)
    assert rejections(texts, image) == {}
