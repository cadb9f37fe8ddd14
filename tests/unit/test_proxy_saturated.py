"""A closed loop without pauses: what its generator gets, and what a trial says was full."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.cli import LAB
from lab.load.fortio import Fortio
from lab.record.counters import read_counters
from lab.record.data import TrialData
from lab.record.requests import Requests
from lab.record.trial import ContainerRecord, HeadPart, StartPart, TrialRecord, Window, WindowPart
from lab.target.proxy.saturated import METRICS
from tests.observed import SECOND_NS, START_NS, counters
from tests.streams import with_streams
from tests.unit.test_contract_loads import Program, plan, stage
from tests.unit.test_proxy_target import CORES, ROLES, settings

CONNECTIONS = 48


def test_the_generator_gets_connections_and_routes(tmp_path: Path) -> None:
    program, of, generator = Program(tmp_path), plan("fortio"), Fortio()
    generator.begin(of, stage(program))
    generator.measure(of, stage(program), {})
    warm_up, load, *_ = (json.loads((tmp_path / f"load-{number}.json").read_text()) for number in range(2))
    common = {"format": "tollbooth.load", "version": 1, "concurrency": 12, "routes": ["/a1"]}
    # The window, and a second before and after it.
    assert (warm_up, load) == ({**common, "duration_s": 5.0}, {**common, "duration_s": 17.0})
    assert generator.environment(of) == {"LOAD_TARGET": "entry:8080"}


def trial(
    tmp_path: Path,
    workers: int = 1,
    found: Mapping[str, float] | None = None,
    generator_cpus: tuple[int, ...] = (2,),
    **cores: float,
) -> TrialData:
    """Return a trial whose connections each wait for half of the time."""
    starts = np.repeat(START_NS + np.arange(20) * SECOND_NS, CONNECTIONS)
    zeros = np.zeros(len(starts), dtype=np.int64)
    sent = Requests(
        user=zeros,
        target=np.full(len(starts), "a1"),
        intended_ns=starts,
        start_ns=starts,
        end_ns=starts + SECOND_NS // 2,
        status=zeros + 200,
        bytes=zeros,
        truncated=False,
    )
    path = tmp_path / "counters.jsonl"
    path.write_text(counters({**CORES, **cores}))
    given = settings(workers=workers).model_dump(mode="json")
    head: dict[str, Any] = {"number": 1, "attempt": 1, "block": 0, "position": 0, "level": "x", "settings": given}
    record = TrialRecord.of(
        HeadPart(**head, found={"users": CONNECTIONS} if found is None else found),
        WindowPart(
            window=Window(load_start_ns=START_NS, start_ns=START_NS + 4 * SECOND_NS, end_ns=START_NS + 16 * SECOND_NS)
        ),
        StartPart(
            service_cpus=(0, 1),
            generator_cpus=generator_cpus,
            containers={
                name: ContainerRecord(role=role, image="x", restarts=0, oom_killed=False, exit_code=0)
                for name, role in ROLES.items()
            },
        ),
    )
    return with_streams(TrialData(record, {}), requests=sent, counters=read_counters(path))


def values(data: TrialData) -> dict[str, float | None]:
    return {metric.name: metric.compute(data) for metric in METRICS}


def test_what_was_full(tmp_path: Path) -> None:
    found = values(trial(tmp_path, proxy=0.97, testserver=0.2))
    assert found["connections_busy"] == pytest.approx(CONNECTIONS / 2)
    # One worker can use one CPU of the two.
    assert found["cpu_proxy_fraction"] == pytest.approx(0.97, rel=1e-3)
    # Collector, sink, generator, observer and test server.
    assert found["cpu_others_fraction"] == pytest.approx(0.1 + 0.01 + 0.03 + 0.01 + 0.2, rel=1e-3)


def test_cpus_that_all_share_are_used_by_all(tmp_path: Path) -> None:
    found = values(trial(tmp_path, generator_cpus=(0, 1), proxy=0.9, testserver=0.25))
    assert found["cpu_others_fraction"] == pytest.approx((0.15 + 0.25 + 0.9) / 2, rel=1e-3)


def test_more_workers_use_at_most_the_cpus_that_are_there(tmp_path: Path) -> None:
    assert values(trial(tmp_path, workers=4, proxy=1.0))["cpu_proxy_fraction"] == pytest.approx(0.5, rel=1e-3)


def test_an_open_loop_has_no_connections_to_fill(tmp_path: Path) -> None:
    assert values(trial(tmp_path, found={}))["connections_busy"] is None


def test_the_table_of_a_closed_loop_says_what_was_full() -> None:
    headline = LAB.targets["proxy"].declaration.headline
    assert "connections_busy" not in {column.metric for column in headline({"requests_per_s"}).columns}
    assert "cpu_others_fraction" in {column.metric for column in headline({"connections_busy"}).columns}
