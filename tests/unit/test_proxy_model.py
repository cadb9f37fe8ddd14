"""The exporter model in the place of Envoy: what a level of it may set, and what is created for it."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.record.results import read_results
from lab.spec.problems import SpecError
from lab.target.proxy import configuration, deployment
from lab.target.proxy.settings import EXPORTER_MODEL, MODEL, PROXY, ProxyLevel
from tests.unit.test_proxy_target import SOURCE, TARGET, experiment, place, settings


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ("tracer: model-async, workers: 2", "workers has no effect on the tracer model-async"),
        ('tracer: model-thread, release: "1.39"', "release has no effect on the tracer model-thread"),
        ("tracer: model-waiting, sampler_percent: 5", "sampler_percent has no effect on the tracer model-waiting"),
    ],
)
def test_what_only_envoy_has_is_a_mistake(new: str, says: str) -> None:
    level = experiment("tracer: opentelemetry-grpc, server_delay_ms: 0, min_flush_spans: 125", "tracer: model-async")
    assert list(TARGET.declaration.problems(level)) == []
    with pytest.raises(SpecError) as wrong:
        experiment("tracer: opentelemetry-grpc, server_delay_ms: 0, min_flush_spans: 125", new)
    assert says in wrong.value.problems[0].text


@pytest.mark.parametrize("tracer", sorted(MODEL))
def test_the_overlay_says_which_exporter_it_has(tracer: str) -> None:
    level = ProxyLevel("x", settings(tracer=tracer, receiver="sink", min_flush_spans=125))
    made = deployment.stack(level, place())
    assert made.services == ("sink", "testserver", EXPORTER_MODEL)
    environment = {"EXPORTER": tracer.removeprefix("model-"), "RECEIVER": "sink:4318", "MIN_FLUSH_SPANS": "125"}
    assert made.overlay == {"services": {"sink": {}, EXPORTER_MODEL: {"environment": environment}}}


def test_it_takes_the_requests_and_has_the_proxys_role(tmp_path: Path) -> None:
    level = ProxyLevel("x", settings(tracer="model-async", receiver="sink"))
    made = deployment.ProxyDeployment(SOURCE, level, place(), tmp_path)
    assert made.endpoint().host == EXPORTER_MODEL
    assert made.roles()[EXPORTER_MODEL] == PROXY


def test_it_needs_its_own_image_and_no_validation_by_envoy(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Mapping[str, str]] = []
    monkeypatch.setattr("lab.engine.envoy_check.reject_invalid", lambda texts, image: checked.append(texts))
    given = experiment("tracer: opentelemetry-grpc, server_delay_ms: 0, min_flush_spans: 125", "tracer: model-async")
    needs = TARGET.declaration.needs(given)
    assert needs.images[:2] == ("envoy", EXPORTER_MODEL)
    assert needs.services[:2] == (PROXY, EXPORTER_MODEL)
    TARGET.prepare(given, {"envoy": "x", EXPORTER_MODEL: "y"})
    assert [set(texts) for texts in checked] == [{"none.json", "otel-grpc-5.json"}]


def test_its_counters_have_names_of_their_own() -> None:
    assert configuration.prefix(SOURCE, settings(tracer="model-thread")) == "tracing.model."


class Answers:
    """Pages of the model and the sink. The model's one timer fires between two readings."""

    def __init__(self) -> None:
        self.fired = 0

    def get(self, port: str, path: str) -> bytes:
        match port:
            case "PROXY_ADMIN_PORT":
                self.fired += 1
                counters = {
                    "http.proxy.downstream_rq_completed": 90,
                    "http.proxy.tracing.random_sampling": 90,
                    "tracing.model.spans_sent": 90,
                    "tracing.model.spans_dropped": 0,
                    "tracing.model.timer_flushed": self.fired,
                    "cluster.receiver.upstream_rq_total": 18,
                }
                stats = [{"name": name, "value": value} for name, value in counters.items()]
                return json.dumps({"stats": stats}).encode()
            case "TESTSERVER_PORT":
                return b'{"format":"tollbooth.testserver","version":1,"requests":90}'
            case _ if path == "/trace":
                return b"null"
            case _:
                return json.dumps(dict.fromkeys(("accepted_spans", "refused_spans", "requests", "bytes"), 90)).encode()


def test_its_ledger_is_read_as_envoys_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, stopped = Answers(), list[Any]()
    monkeypatch.setattr("lab.backend.http.Http.get", lambda _, port, path: answers.get(port, path))
    driver = SimpleNamespace(stop=stopped.append)
    level = ProxyLevel("x", settings(tracer="model-waiting", receiver="sink"))
    deployment.ProxyDeployment(SOURCE, level, place(driver), tmp_path).drain()
    # The first reading, one more until its timer has fired, and the last one.
    assert answers.fired == 3
    assert stopped == [[EXPORTER_MODEL, "observer"]]
    found = read_results(tmp_path / "results-proxy.json").values
    assert (found["requests_proxied"], found["spans_sent"], found["spans_accepted"]) == (90, 90, 90)
