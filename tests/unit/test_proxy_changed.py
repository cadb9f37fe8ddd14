"""A runtime that changes in the window: what is wrong with it, when it is made and counted, and what it did."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.engine import StartFailed
from lab.engine.clock import SystemClock, wait_until
from lab.record.data import TrialData
from lab.record.series import NotDerivableError
from lab.record.traces import read_exports
from lab.record.trial import HeadPart, TrialRecord, Window, WindowPart
from lab.spec.problems import SpecError
from lab.target.proxy import changed, deployment
from lab.target.proxy.changing import RECORD, SOON_EVERY_S, Changing, times_after, times_before
from lab.target.proxy.settings import ProxyLevel
from tests.fake import FakeClock
from tests.streams import with_streams
from tests.unit.test_proxy_target import SOURCE, experiment, place, settings

SECOND_NS = 1_000_000_000
KEY = "tracing.opentelemetry.min_flush_spans"
OTEL = "tracer: opentelemetry-grpc, server_delay_ms: 0, min_flush_spans: 125"


@pytest.mark.parametrize(
    ("level", "says"),
    [
        (
            f"tracer: opentelemetry-grpc, runtime_change: {{{KEY[:-1]}: 9}}",
            f"no key '{KEY[:-1]}' of opentelemetry-grpc; did you mean '{KEY}'?",
        ),
        (
            f"tracer: zipkin-json, receiver: sink, runtime_change: {{{KEY}: 9}}",
            f"no key '{KEY}' of zipkin-json; did you mean 'tracing.zipkin.min_flush_spans'?",
        ),
        (f"tracer: opentelemetry-grpc, runtime_change: {{{KEY}: 0}}", "got 0, expected a whole number from 1"),
        (f"tracer: opentelemetry-grpc, runtime_change: {{{KEY}: -1}}", "got -1, expected a whole number from 1"),
        (
            f"tracer: opentelemetry-grpc, runtime_change: {{{KEY}: 9}}, runtime_change_after_s: 9",
            "got 9 of a window of 12 s; expected 4 s or more after the change",
        ),
        (f"runtime_change: {{{KEY}: 9}}", "runtime_change has no effect on the tracer none"),
    ],
)
def test_a_wrong_change_is_reported_in_one_line(level: str, says: str) -> None:
    with pytest.raises(SpecError) as wrong:
        experiment(OTEL, level)
    texts = [f"{problem.path} {problem.text}" for problem in wrong.value.problems]
    assert any(says in text for text in texts), texts
    assert not any("\n" in text for text in texts)


def test_a_right_change_is_a_level() -> None:
    found = experiment(OTEL, f"tracer: opentelemetry-grpc, runtime_change: {{{KEY}: 125}}")
    assert [level.settings.runtime_change for level in found.levels()] == [{}, {}, {KEY: 125}]


def test_counters_are_read_each_second_and_often_right_after_the_change() -> None:
    assert list(times_before(0.5, 3.0)) == [0.5, 1.0, 2.0, 3.0]
    assert list(times_before(1.0, 3.0)) == [1.0, 2.0, 3.0]
    after = times_after(3.0)
    soon = [next(after) for _ in range(20)]
    assert (soon[0], soon[1], soon[-1]) == pytest.approx((3.0, 3.0 + SOON_EVERY_S, 4.9))
    assert [next(after) for _ in range(3)] == [5.0, 6.0, 7.0]


def test_the_change_is_made_between_two_readings(tmp_path: Path) -> None:
    clock, exports = FakeClock(), [0]
    made: list[float] = []

    def counted() -> Mapping[str, int]:
        exports[0] += 1
        return {"exports": exports[0], "spans_sent": 5 * exports[0]}

    def wait(seconds: float) -> bool:
        clock.sleep(seconds)
        return clock.now_s() < 6.5

    changing = Changing(
        lambda: made.append(clock.now_s()), counted, clock, lambda: round(clock.now_s() * SECOND_NS), tmp_path / RECORD
    )
    changing.play(4.0, wait)
    fields = read_exports(tmp_path / RECORD)
    assert made == [4.0]
    before = fields["t_ns"].values[fields["changes"].values == 0]
    assert before.tolist() == [0, SECOND_NS, 2 * SECOND_NS, 3 * SECOND_NS, 4 * SECOND_NS]
    after = fields["t_ns"].values[fields["changes"].values == 1]
    assert (after[0], after[-1], len(after)) == (4 * SECOND_NS, 6 * SECOND_NS, 21)
    assert fields["spans_sent"].values.tolist() == [5 * number for number in fields["exports"].values.tolist()]


# --- on a running Envoy -------------------------------------------------------------------------------------------


class Envoy:
    """An administration page that counts requests."""

    def __init__(self, status: int = 200) -> None:
        self.status, self.modified, self.read = status, list[str](), 0

    def send(self, method: str, port: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        if method == "POST":
            self.modified.append(path)
            return self.status, b"no admin layer specified"
        self.read += 1
        counters = {"cluster.receiver.upstream_rq_total": self.read, "tracing.opentelemetry.spans_sent": 5 * self.read}
        stats = [{"name": name, "value": value} for name, value in counters.items()]
        return 200, json.dumps({"stats": stats}).encode()


Deploy = Callable[[Envoy], deployment.ProxyDeployment]


@pytest.fixture
def deploy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deploy:
    def deployed(envoy: Envoy) -> deployment.ProxyDeployment:
        monkeypatch.setattr("lab.backend.http.Http.send", lambda _, *given: envoy.send(*given))
        driver = SimpleNamespace(time_ns=lambda: 7 * SECOND_NS, last_log_lines=lambda *_: [])
        given = {"tracer": "opentelemetry-grpc", "runtime_change": {KEY: 125}, "runtime_change_after_s": 2}
        level = ProxyLevel("x", settings(**given))
        where = replace(place(driver), clock=SystemClock())
        return deployment.ProxyDeployment(SOURCE, level, where, tmp_path)

    return deployed


def test_beside_a_load_the_values_change_once(deploy: Deploy, tmp_path: Path) -> None:
    envoy = Envoy()
    made = deploy(envoy)
    # The window began two seconds ago.
    with made.measuring(made.level, 0, -2.0):
        assert wait_until(lambda: envoy.read > 3, 10, 0.01, SystemClock())
    assert envoy.modified == [f"/runtime_modify?{KEY}=125"]
    fields = read_exports(tmp_path / RECORD)
    assert fields["changes"].values.tolist()[-1] == 1
    assert fields["exports"].values.tolist()[:2] == [1, 2]
    assert fields["t_ns"].values[0] >= 7 * SECOND_NS


def test_an_envoy_that_does_not_take_the_values_fails_the_start(deploy: Deploy) -> None:
    envoy = Envoy(status=503)
    made = deploy(envoy)
    with (
        pytest.raises(StartFailed, match="answered with 503: no admin layer"),
        made.measuring(made.level, 0, -2.0),
    ):
        assert wait_until(lambda: bool(envoy.modified), 10, 0.01, SystemClock())


# --- judgement ----------------------------------------------------------------------------------------------------

PER_S = 1000
CHANGE_NS = 10 * SECOND_NS


def trial(readings: list[Mapping[str, int]] | None, tmp_path: Path) -> TrialData:
    window = Window(load_start_ns=0, start_ns=SECOND_NS, end_ns=20 * SECOND_NS)
    head = HeadPart(number=1, attempt=1, block=0, position=0, level="x", settings={"runtime_change": {KEY: 125}})
    data = TrialData(TrialRecord.of(head, WindowPart(window=window)), {})
    if readings is None:
        return data
    lines = [{"format": "tollbooth.exports", "version": 1}, *readings]
    (tmp_path / RECORD).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return with_streams(data, exports=read_exports(tmp_path / RECORD))


def readings(old: int, new: int, took_ns: int) -> list[Mapping[str, Any]]:
    """Return the readings of `PER_S` spans per second, with `old` spans in an export, and `new` after the change."""
    after = (round(time * SECOND_NS) for time, _ in zip(times_after(10), range(40), strict=False))
    times = [(number * SECOND_NS, 0) for number in range(11)] + [(max(t_ns, CHANGE_NS + 1), 1) for t_ns in after]
    found = []
    for t_ns, changes in times:
        spans, until = PER_S * t_ns // SECOND_NS, PER_S * (CHANGE_NS + took_ns) // SECOND_NS
        exports = min(spans, until) // old + max(spans - until, 0) // new
        found.append({"t_ns": t_ns, "exports": exports, "spans_sent": spans, "changes": changes})
    return found


@pytest.mark.parametrize("took_s", [0.0, 0.4, 1.5])
@pytest.mark.parametrize(("old", "new"), [(1, 125), (125, 1), (5, 512)])
def test_rates_and_the_time_until_the_change_shows(old: int, new: int, took_s: float, tmp_path: Path) -> None:
    found = changed.effect(trial(readings(old, new, round(took_s * SECOND_NS)), tmp_path))
    assert found and found.took_s is not None
    # An export more or less.
    assert found.before_per_s == pytest.approx(PER_S / old, abs=0.3)
    assert found.after_per_s == pytest.approx(PER_S / new, abs=0.3)
    assert found.took_s == pytest.approx(took_s, abs=2 * max(old, new) / PER_S)


@pytest.mark.parametrize("new", [100, 101, 105])
def test_what_may_be_chance_is_no_effect(new: int, tmp_path: Path) -> None:
    found = changed.effect(trial(readings(100, new, 0), tmp_path))
    assert found and found.took_s is None


def test_a_trial_without_a_change_has_no_effect_of_one(tmp_path: Path) -> None:
    data = trial(None, tmp_path)
    assert changed.effect(data) is None
    assert "was not changed" in next(changed.was_made(data))
    without = replace(data, trial=data.trial.model_copy(update={"settings": {"runtime_change": {}}}))
    assert list(changed.was_made(without)) == []


@pytest.mark.parametrize("number", [0, 5])
def test_a_load_that_ends_before_the_change_is_rejected(number: int, tmp_path: Path) -> None:
    data = trial(readings(1, 125, 0)[:number], tmp_path)
    assert "the load ended before" in next(changed.was_made(data))


def test_a_change_at_the_end_cannot_be_judged(tmp_path: Path) -> None:
    data = trial(readings(1, 125, 0)[:20], tmp_path)
    assert list(changed.was_made(data)) == []
    with pytest.raises(NotDerivableError):
        changed.effect(data)
