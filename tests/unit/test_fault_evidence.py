"""Each fault is verified by records that show it, and not by the records of an undisturbed trial."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from lab.analysis.metrics import values
from lab.analysis.metrics.window import grown
from lab.fault.evidence import share_doubts
from lab.fault.kinds import KINDS, parse_fault
from lab.fault.verified import unverified
from lab.record.counters import parse_counters
from lab.record.data import TrialData
from lab.record.faults import ENDED, Action, Injection, ended_on_purpose
from lab.record.requests import REQUESTS_COLUMNS, REQUESTS_FIRST_LINE, parse_requests
from lab.record.series import NotDerivableError
from lab.record.trial import LOCAL, ContainerRecord, TrialRecord, Window
from tests.labs import MESH
from tests.synthetic.truth import EPOCH_NS

SECOND_NS = 1_000_000_000
LOAD_S = 40
# The fault is there from the 10th second to the 20th.
BEGIN_S, END_S = 10.0, 20.0

Curve = Callable[[float], float]
Request = tuple[float, float, int]


def at(seconds: float) -> int:
    return EPOCH_NS + round(seconds * SECOND_NS)


def steady(per_s: float) -> Curve:
    """A counter that grows all the time."""
    return lambda t: per_s * t


def with_rate(usual: float, meanwhile: float) -> Curve:
    """A counter that grows at another rate while the fault is there."""
    return lambda t: usual * t + (meanwhile - usual) * min(max(t - BEGIN_S, 0), END_S - BEGIN_S)


def sent(latency_s: float = 0.01, meanwhile_s: float = 0.01, status: int = 200) -> list[Request]:
    """Requests, ten each second, and how they went while the fault was there."""
    starts = [index / 10 for index in range(LOAD_S * 10)]
    return [(t, t + meanwhile_s, status) if BEGIN_S <= t < END_S else (t, t + latency_s, 200) for t in starts]


def waiting() -> list[Request]:
    """Requests that nobody answers until the fault is over."""
    return [(t, max(end, END_S) if BEGIN_S <= t < END_S else end, status) for t, end, status in sent()]


def container(role: str) -> ContainerRecord:
    """A container of a role, as the engine describes it at the end."""
    return ContainerRecord(role=role, image="x", restarts=0, oom_killed=False, exit_code=0, running=True)


BUSY, NEVER, TALKING, SENDING = steady(0.3 * SECOND_NS), steady(0), steady(100), steady(20_000)


@dataclass(frozen=True)
class Story:
    """What the records of a node `s2` under load say, and what the actions saw; the defaults: nothing happens."""

    cpu_ns: Curve = BUSY
    throttled_ns: Curve = NEVER
    packets: Curve = TALKING
    sent_bytes: Curve = SENDING
    away: str = ""
    """What has no samples while the fault is there: `container` or `network`."""
    events: tuple[tuple[float, str], ...] = ()
    requests: list[Request] = field(default_factory=sent)
    role: str = "service"
    network: str = "app"
    injected: Mapping[str, Any] = field(default_factory=lambda: {"address": "172.18.0.3"})
    lifted: Mapping[str, Any] = field(default_factory=lambda: {"address": "172.18.0.3"})
    declared: int = 1

    def counters(self) -> Iterable[dict[str, Any]]:
        yield {"format": "tollbooth.counters", "version": 1, "interval_ns": 250_000_000}
        yield from ({"kind": "event", "t_ns": at(t), "name": "s2", "event": event} for t, event in self.events)
        for index in range(LOAD_S * 4):
            t = index / 4
            there = not BEGIN_S <= t < END_S
            base = {"t_ns": at(t), "name": "s2"}
            if there or self.away != "container":
                yield {"kind": "container", **base, "cpu_usage_ns": int(self.cpu_ns(t))}
                yield {"kind": "slow", **base, "cpu_throttled_ns": int(self.throttled_ns(t))}
            if there or not self.away:
                packets = int(self.packets(t))
                interface = {"interface": "eth0", "network": self.network, "rx_packets": packets, "tx_packets": packets}
                yield {"kind": "network", **base, **interface, "tx_bytes": int(self.sent_bytes(t))}

    def data(self) -> TrialData:
        rows = [f"1,s1,{at(start)},{at(start)},{at(end)},{status},1" for start, end, status in self.requests]
        text = "\n".join([REQUESTS_FIRST_LINE, ",".join(REQUESTS_COLUMNS), *rows]) + "\n"
        lines = "".join(json.dumps(line) + "\n" for line in self.counters())
        record = TrialRecord(
            number=1, attempt=1, block=0, position=0, level="x", settings={"faults": [{}] * self.declared}, valid=True,
            found={"users": 1}, window=Window(load_start_ns=at(0), start_ns=at(0), end_ns=at(LOAD_S)),
            service_cpus=(0, 1), generator_cpus=(0, 1), startup_s={"s2": 1.0},
            containers={"s2": container(self.role)} if self.role != "service" else {},
        )  # fmt: skip
        counters, requests = parse_counters(lines, "x"), parse_requests(text, "x")
        return TrialData(record, {"counters": {LOCAL: counters}, "requests": {LOCAL: requests}})


def with_faults(data: TrialData, injections: Sequence[Injection]) -> TrialData:
    """The trial with a record of these faults."""
    return replace(data, streams={**data.streams, "faults": {LOCAL: injections}})


def declared(kind: str) -> dict[str, Any]:
    size = {} if kind in {"killed", "frozen", "cut-off"} else {"size": SIZES[kind]}
    return {"kind": kind, "target": "s2", "start_s": BEGIN_S, "length_s": END_S - BEGIN_S, **size}


def injection(kind: str, story: Story) -> Injection:
    return Injection(
        declared(kind),
        Action(at(BEGIN_S - 0.05), at(BEGIN_S), story.injected),
        Action(at(END_S), at(END_S + 0.05), story.lifted),
    )


def doubts(kind: str, story: Story) -> list[str]:
    return list(unverified(story.data(), [injection(kind, story)]))


SIZES = {
    "application-error": 0.2, "application-latency": 100, "envoy-abort": 0.2, "envoy-delay": 50, "cpu-cut": 0.1,
    "answer-delay": 500,
    "bandwidth-cap": 8, "packet-loss": 0.1, "packet-delay": 50,
}  # fmt: skip
NO_COUNT = {"operations": 100, "errors": 0, "waited_ns": 10**9}

# What each kind's records look like when it was there.
SHOWN: dict[str, Story] = {
    "killed": Story(
        away="container",
        events=((BEGIN_S + 0.2, "gone"), (END_S + 0.8, "restarted")),
        requests=sent(status=502),
        injected={"address": "172.18.0.3", ENDED: "s2 s2-envoy"},
    ),
    "frozen": Story(cpu_ns=with_rate(3e8, 0), requests=waiting()),
    "cut-off": Story(away="network", requests=sent(meanwhile_s=3.0, status=0)),
    "cpu-cut": Story(cpu_ns=with_rate(3e8, 1e8), throttled_ns=with_rate(0, 5e8)),
    "bandwidth-cap": Story(sent_bytes=with_rate(20_000, 990), lifted={"packets": 90, "drops": 9, "overlimits": 80}),
    "packet-loss": Story(lifted={"packets": 905, "drops": 95}),
    "packet-delay": Story(lifted={"packets": 1000, "drops": 0}, requests=sent(meanwhile_s=0.062)),
    "answer-delay": Story(injected={"delayed_requests": 3}, lifted={"delayed_requests": 12}),
    "application-error": Story(
        injected=NO_COUNT, lifted={"operations": 1100, "errors": 190, "waited_ns": 11 * 10**9}
    ),
    "application-latency": Story(
        injected=NO_COUNT, lifted={"operations": 200, "errors": 0, "waited_ns": 10**9 + 100 * 101_000_000}
    ),
    "envoy-abort": Story(injected={"faults": 7, "requests": 500}, lifted={"faults": 217, "requests": 1500}),
    "envoy-delay": Story(injected={"faults": 0, "requests": 500}, lifted={"faults": 999, "requests": 1500}),
}  # fmt: skip

# What the actions see of an undisturbed system, kind by kind; its records are those of the plain story.
UNDISTURBED: dict[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = {
    "killed": ({"address": "172.18.0.3", ENDED: "s2"}, {"address": "172.18.0.3"}),
    "packet-loss": ({}, {"packets": 1000, "drops": 0}),
    "packet-delay": ({}, {"packets": 1000, "drops": 0}),
    "answer-delay": ({"delayed_requests": 3}, {"delayed_requests": 3}),
    "application-error": (NO_COUNT, {"operations": 1100, "errors": 0, "waited_ns": 11 * 10**9}),
    "application-latency": (NO_COUNT, {"operations": 1100, "errors": 0, "waited_ns": 11 * 10**9}),
    "envoy-abort": ({"faults": 0, "requests": 500}, {"faults": 0, "requests": 1500}),
    "envoy-delay": ({"faults": 0, "requests": 500}, {"faults": 0, "requests": 1500}),
}


def test_every_kind_has_a_story() -> None:
    assert set(SHOWN) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_that_was_there_is_verified(kind: str) -> None:
    assert doubts(kind, SHOWN[kind]) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_that_was_not_there_is_not_verified(kind: str) -> None:
    injected, lifted = UNDISTURBED.get(kind, (Story().injected, Story().lifted))
    found = doubts(kind, Story(injected=injected, lifted=lifted))
    assert len(found) == 1
    assert found[0].startswith(f"fault {kind} of s2: not verified: ")


# Kinds that a backend can have, too.
OF_BACKENDS = ["killed", "frozen", "cut-off", "cpu-cut", "bandwidth-cap", "packet-loss"]
BACKEND: dict[str, Any] = {"role": "backend", "network": "telemetry", "requests": sent()}


@pytest.mark.parametrize("kind", OF_BACKENDS)
def test_of_a_backend_it_is_verified_although_no_request_felt_it(kind: str) -> None:
    assert doubts(kind, replace(SHOWN[kind], **BACKEND)) == []


@pytest.mark.parametrize("kind", OF_BACKENDS)
def test_of_a_backend_it_is_not_verified_if_it_was_not_there(kind: str) -> None:
    injected, lifted = UNDISTURBED.get(kind, (Story().injected, Story().lifted))
    assert len(doubts(kind, Story(injected=injected, lifted=lifted, **BACKEND))) == 1


@pytest.mark.parametrize(
    ("kind", "doubt"), [("bandwidth-cap", "was not sampled twice"), ("cut-off", "no packet was seen to pass")]
)
def test_what_a_backend_has_on_the_network_of_requests_proves_nothing(kind: str, doubt: str) -> None:
    (found,) = doubts(kind, replace(SHOWN[kind], **{**BACKEND, "network": "app"}))
    assert doubt in found


@pytest.mark.parametrize(
    ("kind", "change", "doubt"),
    [
        ("killed", {"away": ""}, "its process went on"),
        ("killed", {"events": ()}, "its process was not seen to go"),
        ("killed", {"events": ((BEGIN_S + 0.2, "gone"),)}, "it was not seen to come back"),
        ("killed", {"events": ((BEGIN_S - 3, "gone"), (END_S, "restarted"))}, "its process was not seen to go"),
        ("killed", {"requests": sent()}, "no request failed or waited for it"),
        ("killed", {"lifted": {"address": "172.18.0.9"}}, "it came back with another address, 172.18.0.9"),
        ("frozen", {"cpu_ns": steady(3e8)}, "it used 2850 ms of CPU meanwhile"),
        ("frozen", {"cpu_ns": steady(0)}, "it was not seen to use CPU before"),
        ("frozen", {"away": "container"}, "its CPU time was not sampled twice meanwhile"),
        ("frozen", {"requests": sent()}, "no request failed or waited for it"),
        ("cut-off", {"away": ""}, "packets passed its interface meanwhile"),
        ("cut-off", {"away": "container"}, "it was not observed meanwhile"),
        ("cut-off", {"packets": steady(0)}, "no packet was seen to pass its interface before"),
        ("cut-off", {"requests": sent()}, "no request failed or waited for it"),
        ("cut-off", {"lifted": {"address": "172.18.0.9"}}, "it came back with another address, 172.18.0.9"),
        ("cpu-cut", {"throttled_ns": steady(0)}, "it was never throttled: it used 0.10 CPUs"),
        ("cpu-cut", {"cpu_ns": with_rate(3e8, 1.2e8)}, "it used 0.12 CPUs, more than 0.1"),
        ("bandwidth-cap", {"sent_bytes": with_rate(20_000, 500)}, "it wanted to send no more than 4 kbit/s"),
        ("bandwidth-cap", {"sent_bytes": with_rate(20_000, 1_500)}, r"it sent 12 kbit/s, 8 kbit/s were allowed"),
        ("bandwidth-cap", {"lifted": {"packets": 90, "drops": 0, "overlimits": 0}}, "no packet had to wait"),
        ("bandwidth-cap", {"away": "network"}, "what it sent was not sampled twice meanwhile"),
        ("packet-loss", {"lifted": {"packets": 700, "drops": 300}}, "300 of 1000 packets were lost"),
        ("packet-loss", {"lifted": {"packets": 18, "drops": 2}}, "20 packets are too few"),
        ("packet-delay", {"requests": sent(meanwhile_s=0.03)}, "half of the requests took 30.0 ms or less"),
        ("packet-delay", {"lifted": {"packets": 0, "drops": 0}}, "no packet passed the delay"),
        ("packet-delay", {"requests": sent(status=502)}, "no request began and succeeded"),
        ("application-error", {"lifted": NO_COUNT}, "0 operations are too few"),
        ("application-latency", {"lifted": NO_COUNT}, "no operation was requested"),
        ("envoy-abort", {"lifted": {"faults": 507, "requests": 1500}}, "500 of 1000 requests were aborted"),
        ("envoy-abort", {"lifted": {"faults": 9, "requests": 510}}, "10 requests are too few"),
        ("envoy-delay", {"lifted": {"faults": 500, "requests": 1500}}, "500 of 1000 requests were delayed"),
    ],
)
def test_a_missing_part_is_named(kind: str, change: dict[str, Any], doubt: str) -> None:
    found = doubts(kind, replace(SHOWN[kind], **change))
    assert len(found) == 1
    assert re.search(doubt, found[0]), found


def test_when_a_fault_was_lifted_is_known_to_the_clocks_error() -> None:
    late = replace(injection("frozen", SHOWN["frozen"]), lifted=Action(at(END_S + 0.1), at(END_S + 0.15), {}))
    sure, unsure = (replace(late, clock_error_ns=error_ns) for error_ns in (0, SECOND_NS // 10))
    (doubt,) = unverified(SHOWN["frozen"].data(), [sure])
    assert "no request failed or waited for it" in doubt
    assert list(unverified(SHOWN["frozen"].data(), [unsure])) == []


def test_waits_that_every_client_gives_up_show_a_latency() -> None:
    before = {**NO_COUNT, "given_up": 2}
    assert doubts("application-latency", Story(injected=before, lifted={**before, "given_up": 30})) == []
    assert "no operation was requested" in doubts("application-latency", Story(injected=before, lifted=before))[0]


def test_a_latency_that_was_there_before_proves_nothing() -> None:
    slow = {"operations": 100, "errors": 0, "waited_ns": 100 * 100_000_000}
    later = {"operations": 200, "errors": 0, "waited_ns": 200 * 100_000_000}
    found = doubts("application-latency", Story(injected=slow, lifted=later))
    assert "operations waited 100.0 ms before, too" in found[0]


@pytest.mark.parametrize(
    ("injections", "sentence"),
    [
        ([], "0 of 1 declared faults are on record"),
        ([Injection(declared("frozen"), rejected="no such thing")], "fault frozen of s2: not possible: no such thing"),
        ([Injection(declared("frozen"))], "fault frozen of s2: it was not injected and lifted"),
        (
            [Injection(declared("frozen"), Action(at(-9), at(-8), {}), Action(at(-4), at(-3), {}))],
            "fault frozen of s2: it began before the window",
        ),
        (
            [Injection(declared("frozen"), Action(at(38), at(38.1), {}), Action(at(43), at(43), {}))],
            "fault frozen of s2: the window ended before it did",
        ),
    ],
)
def test_a_fault_without_its_complete_course_is_not_verified(injections: list[Injection], sentence: str) -> None:
    assert list(unverified(Story().data(), injections)) == [sentence]


def test_a_fault_that_the_loads_end_cut_short_is_not_the_declared_one() -> None:
    whole = injection("killed", SHOWN["killed"])
    longer = replace(whole, fault={**whole.fault, "length_s": 30.0})
    (doubt,) = unverified(SHOWN["killed"].data(), [longer])
    assert doubt.endswith("it was lifted after 10.1 of 30 s: the load had ended")


def test_a_trial_without_faults_has_nothing_to_verify() -> None:
    assert list(unverified(Story(declared=0).data(), ())) == []


def test_the_containers_that_a_fault_ended_are_known() -> None:
    injections = [injection("killed", SHOWN["killed"]), injection("frozen", SHOWN["frozen"])]
    assert ended_on_purpose(injections) == {"s2", "s2-envoy"}


def test_a_killed_service_has_cpu_time_of_both_its_lives() -> None:
    def anew(t: float) -> float:
        return 1e8 * (t if t < BEGIN_S else t - END_S)

    story = replace(SHOWN["killed"], cpu_ns=anew)
    faulty = with_faults(story.data(), [injection("killed", story)])
    first_life_s, second_life_s = BEGIN_S - 0.25, LOAD_S - END_S
    shorter = Window(load_start_ns=at(0), start_ns=at(0), end_ns=at(LOAD_S - 0.25))
    faulty = replace(faulty, trial=faulty.trial.model_copy(update={"window": shorter}))
    used_ns = grown(faulty, "s2", faulty.counters.containers["s2"]["cpu_usage_ns"])
    assert used_ns == pytest.approx(1e8 * (first_life_s + second_life_s - 0.25))
    with pytest.raises(NotDerivableError, match="went back"):
        grown(with_faults(faulty, ()), "s2", faulty.counters.containers["s2"]["cpu_usage_ns"])


def test_what_a_fault_did_to_the_requests_is_measured() -> None:
    story = SHOWN["killed"]
    found = values(with_faults(story.data(), [injection("killed", story)]), MESH.judgement.metrics)
    assert found["recovered_fraction"] == 1
    # Late by a tenth of a window, early by what chance allows of a window's ten requests.
    assert -0.5 <= found["recovery_s"] - 0.05 <= 0.1
    assert found["requests_lost"] == pytest.approx((END_S - BEGIN_S) * 10, abs=1)
    assert found["requests_unasked"] == pytest.approx(0, abs=2)


def test_a_warm_up_of_its_own_is_no_time_before_the_fault() -> None:
    """Most of its requests are slow, some fail, and then nothing is sent for more than a second."""
    cold = [(t / 10, t / 10 + 0.4, 500 if t % 20 == 0 else 200) for t in range(-200, -12)]
    story = SHOWN["killed"]
    found, warmed = (
        values(with_faults(one.data(), [injection("killed", one)]), MESH.judgement.metrics)
        for one in (story, replace(story, requests=[*cold, *story.requests]))
    )
    for name in ("recovery_s", "recovered_fraction", "requests_lost", "requests_unasked"):
        assert warmed[name] == found[name]


def test_a_system_that_does_not_come_back_has_no_time_to_recover() -> None:
    gone = [(t, end, 502 if t >= BEGIN_S else status) for t, end, status in sent()]
    story = replace(SHOWN["killed"], requests=gone)
    found = values(with_faults(story.data(), [injection("killed", story)]), MESH.judgement.metrics)
    assert found["recovered_fraction"] == 0
    assert "recovery_s" not in found


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 1.0])
def test_a_share_is_distinguished_from_none_and_from_twice_as_many(share: float) -> None:
    of = 5000
    assert not list(share_doubts(of * share, of, share, "requests", "aborted"))
    assert list(share_doubts(0, of, share, "requests", "aborted"))
    assert list(share_doubts(of * share * 2, of, share, "requests", "aborted"))


def test_a_declared_fault_survives_its_record() -> None:
    for kind in KINDS:
        fault = parse_fault(declared(kind))
        assert parse_fault(json.loads(json.dumps(fault.model_dump(mode="json")))) == fault
