"""Each release of Envoy that the lab has takes the tracers, and counts what the ledger needs."""

from pathlib import Path
from typing import get_args

import pytest

from lab.engine import images
from lab.engine.envoy_check import rejections
from lab.target.proxy.settings import CURRENT, ProxyLevelSettings, Release
from tests.contract.test_proxy import REQUESTS, SOURCE, ledger, level, running, send

# Four images only for this: `pytest -m long`.
pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.long, pytest.mark.timeout(300)]

EARLIER = [release for release in get_args(Release) if release != CURRENT]


def image(release: str) -> str:
    return ProxyLevelSettings.model_validate({"release": release}).image


@pytest.mark.parametrize("release", EARLIER)
def test_an_earlier_release_takes_every_tracer(release: str) -> None:
    images.ensure([image(release)], print)
    texts = {f"{tracer}.json": level(tracer, min_flush_spans=125, flush_interval_ms=1000) for tracer in SOURCE.tracers}
    assert rejections({"none.json": level("none"), **texts}, images.references([image(release)])[image(release)]) == {}


@pytest.mark.parametrize("release", EARLIER)
@pytest.mark.parametrize("tracer", ["opentelemetry-grpc", "zipkin-json"])
def test_of_an_earlier_release_every_span_arrives(release: str, tracer: str, tmp_path: Path) -> None:
    images.ensure([image(release)], print)
    with running(tmp_path / "out", tracer=tracer, receiver="sink", release=release, min_flush_spans=125) as system:
        send(system)
        found = ledger(system)
    assert found["requests_proxied"] == found["requests_at_server"] == REQUESTS
    assert found["spans_sent"] == found["spans_accepted"] == REQUESTS
    assert found["exports"] > 0
