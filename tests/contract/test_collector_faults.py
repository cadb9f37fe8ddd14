"""What the generator `traces` records when a Collector fails: each trace that was sent has one outcome, as expected."""

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lab.engine import images
from lab.engine.clock import SystemClock, wait_until
from lab.record import TrialData, TrialRecord
from lab.record.traces import read_traces
from lab.record.trial import HeadPart
from lab.target import delays
from tests.contract.collected import (
    LOAD,
    MEASURED,
    PLAN,
    SAMPLING_PERCENT,
    SINK,
    WITHIN_S,
    Rows,
    Surroundings,
    decoupled,
    docker,
    sampled,
    surroundings,
)

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(180)]

NAME = "collector-faults"
# They wait out durations of up to 0.4 s, so that some of them are sending at any time.
WORKERS = {"workers": 100, "workers_per_s": 0, "wait_out_durations": True}
LOOPS: Mapping[str, Mapping[str, Any]] = {
    "coupled": {"coupled": WORKERS, "plan": {**PLAN, "span_duration_ms": {"min": 0, "max": 100}}},
    "decoupled": decoupled(200),
}
each_loop = pytest.mark.parametrize("loop", LOOPS)
SECOND_NS = 1_000_000_000
PROBE = {"traceId": "01" * 16, "spanId": "01" * 8, "name": "probe", "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
UNAVAILABLE_GRPC, UNAVAILABLE_HTTP = 14, 503
DISK_BYTES = 16 << 20


@pytest.fixture(scope="module", autouse=True)
def the_images() -> None:
    images.ensure(["collector", "traces", "sink"], print)


@pytest.fixture
def around(tmp_path: Path) -> Iterator[Surroundings]:
    with surroundings(NAME, tmp_path / "out") as made:
        yield made


def outcomes(rows: Rows, since_ns: int = 0, until_ns: int = 1 << 62) -> set[str]:
    """Return what became of the traces that were sent between two Unix times."""
    return {row["outcome"] for row in rows if since_ns <= sent_ns(row) <= until_ns}


def sent_ns(row: Mapping[str, str]) -> int:
    return int(row["intended_ns"]) + int(row["send_start_after_ns"])


# --- one clear line ---------------------------------------------------------------------------------------------------

NOBODY = "127.0.0.1:4999"
REVERSED = {**PLAN, "spans": {"min": 9, "max": 3}}


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({}, f"cannot reach {NOBODY}: dial tcp {NOBODY}: connect: connection refused"),
        ({"plan": REVERSED}, "plan.spans: min is 9, above max, which is 3"),
    ],
)
def test_what_cannot_begin_is_one_line(how: Mapping[str, object], says: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(0o777)
    (out / "load-0.json").write_text(json.dumps({**LOAD, **LOOPS["coupled"], "duration_s": 60, **how}))
    assert failed(out, NOBODY) == f"traces: /out/load-0.json: {says}\n"
    assert [path.name for path in out.iterdir()] == ["load-0.json"]


def failed(out: Path | str, target: str, *options: str) -> str:
    """Return what a generator that ends with exit code 1 says."""
    image = images.references(["traces"])["traces"]
    given = ("--volume", f"{out}:/out", "--env", f"TARGET={target}", *options)
    done = subprocess.run(["docker", "run", "--rm", *given, image], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


# --- rejecting, slow, killed ------------------------------------------------------------------------------------------


def test_what_a_collector_rejects_is_a_send_error(around: Surroundings) -> None:
    # Less than any Collector needs.
    with around.collector("collector", "memory-limited", {"MEMORY_LIMIT_MIB": "2", "MEMORY_SPIKE_MIB": "1"}):
        probe = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [PROBE]}]}]}).encode()
        # It looks at its memory once a second.
        assert wait_until(lambda: around.answer(body=probe) == UNAVAILABLE_HTTP, WITHIN_S, 0.1, SystemClock())
        for loop in LOOPS.values():
            rows = around.sent(1, loop)
            assert outcomes(rows) - {"shutdown"} == {"send error"}
            assert {int(row["code"]) for row in rows if row["outcome"] == "send error"} == {UNAVAILABLE_GRPC}


@each_loop
def test_a_collector_that_is_slow_then_killed_and_comes_back(loop: str, around: Surroundings) -> None:
    # Long enough that a request is under way when the engine, which may be busy, kills it.
    how = {**LOOPS[loop], "send_timeout_ms": 1000, "receive_timeout_ms": 2000}
    with around.collector("collector", "basic", {"RETURN_ENDPOINT": "traces:4317"}):
        with around.sending(how) as load:
            load.until("received_spans")
            around.pause(MEASURED)
            slow_ns = time.time_ns()
            load.until("send_timeout", since_ns=slow_ns)
            around.do("kill", MEASURED)
            killed_ns = time.time_ns()
            load.until("send_error", since_ns=killed_ns)
            back_ns = time.time_ns()
            around.do("start", MEASURED)
            load.until("received_spans", since_ns=time.time_ns())
            around.pause(MEASURED)
        rows = load.rows()
    assert "success" in outcomes(rows, until_ns=slow_ns)
    # A request that is under way when it is killed breaks.
    assert outcomes(rows, slow_ns, killed_ns) == {"send timeout", "send error"}
    assert outcomes(rows, killed_ns, back_ns) <= {"send timeout", "send error"}
    assert {"success", "shutdown"} <= outcomes(rows, back_ns)


@pytest.mark.parametrize("lasts_s", [5, pytest.param(60, marks=pytest.mark.long)])
def test_malformed_data_where_traces_come_back_is_counted_and_disturbs_nothing(
    lasts_s: int, around: Surroundings
) -> None:
    with around.collector("collector", "basic", {"RETURN_ENDPOINT": "traces:4317"}):
        with around.sending(LOOPS["decoupled"]) as load:
            load.until("received_spans")
            rejected = around.garble(lasts_s)
            load.until("received_spans", since_ns=time.time_ns())
        rows = load.rows()
    assert min(rejected.values()) > 0
    assert load.counted("malformed") == sum(rejected.values())
    assert [row for row in rows if row["outcome"] not in ("success", "shutdown")] == []


# --- an outage behind the sampler -------------------------------------------------------------------------------------

BACK = "back"


# On a busy machine a trace may be on its way for seconds without any outage, which has to last longer than a trace is
# waited for. Workers send nothing while they wait.
@pytest.mark.parametrize(("loop", "outage_s", "waits_s"), [("decoupled", 7, 4), ("coupled", 5, 2)])
def test_an_outage_of_the_exporter_is_a_loss_and_not_sampling(
    loop: str, outage_s: int, waits_s: int, around: Surroundings
) -> None:
    how = {**LOOPS[loop], "send_timeout_ms": 2000, "receive_timeout_ms": waits_s * 1000}
    # As many consumers as wait in retries, so that what is sent later need not wait for them.
    to_back = {"RETURN_ENDPOINT": f"{BACK}:4317", "CONSUMERS": "2000", "QUEUE_SIZE": "2000"}
    with (
        around.collector("collector", "basic", {"RETURN_ENDPOINT": "traces:4317"}, BACK),
        around.collector("collector", "sample", to_back),
    ):
        with around.sending(how) as load:
            load.until("received_spans")
            around.do("kill", BACK)
            gone_ns = time.time_ns()
            load.until("traces_sent", since_ns=gone_ns + outage_s * SECOND_NS)
            back_ns = time.time_ns()
            around.do("start", BACK)
            load.until("received_spans", since_ns=time.time_ns())
            recovered_ns = time.time_ns()
            load.until("traces_sent", since_ns=recovered_ns)
        rows = load.rows()
    predicted = sampled(rows)
    wanted = [row for row, keep in zip(rows, predicted, strict=True) if keep]
    # The others are accepted, and no span of theirs comes back.
    others = [row for row, keep in zip(rows, predicted, strict=True) if not keep]
    assert outcomes(others) <= {"receive timeout", "shutdown"}
    assert {row["spans_received"] for row in others} == {"0"}
    lost = [row for row in wanted if row["outcome"] == "receive timeout"]
    assert {row["trace_id"] for row in lost} == set(failures(around.out / "traces-0.csv"))
    # The last ones may still have come in time when it was back.
    assert outcomes(wanted, gone_ns, back_ns - waits_s * SECOND_NS) == {"receive timeout"}
    # It was waited for at some time of the outage.
    assert all(gone_ns - waits_s * SECOND_NS < sent_ns(row) < recovered_ns for row in lost)
    assert "success" in outcomes(wanted, until_ns=gone_ns)
    assert "success" in outcomes(wanted, recovered_ns)


def failures(log: Path) -> list[str]:
    """Return the traces that failed, as the lab counts them."""
    settings = {"keeps": "sampled", "sampling_percent": SAMPLING_PERCENT}
    head = HeadPart(number=1, attempt=1, block=0, position=0, level="x", settings=settings)
    data = TrialData(TrialRecord.of(head), {"trace-log": {"0": read_traces(log)}})
    return delays.failures(data)["trace_id"].to_list()


# --- a disk that fills ------------------------------------------------------------------------------------------------


def test_on_a_full_disk_the_log_is_valid_to_its_last_record(around: Surroundings, tmp_path: Path) -> None:
    volume = f"{around.network}-disk"
    how = {**decoupled(50_000, traces_per_request=100), "returns": False, "duration_s": 60}
    (tmp_path / "load-0.json").write_text(json.dumps({**LOAD, **how, "plan": {**PLAN, "spans": {"min": 1, "max": 1}}}))
    disk = ("--opt", "type=tmpfs", "--opt", "device=tmpfs", "--opt", f"o=size={DISK_BYTES},mode=1777")
    docker("volume", "create", *disk, volume)
    try:
        # The sink keeps the disk mounted when the generator has ended.
        around.start(SINK, images.references([SINK])[SINK], ("--volume", f"{volume}:/out"))
        docker("cp", str(tmp_path / "load-0.json"), f"{around.network}-{SINK}:/out")
        said = failed(volume, f"{SINK}:4317", "--network", around.network)
        docker("cp", f"{around.network}-{SINK}:/out", str(tmp_path / "disk"))
    finally:
        around.remove()
        docker("volume", "rm", volume)
    assert said.startswith("traces: /out/load-0.json: ")
    assert said.endswith("no space left on device\n")
    assert said.count("\n") == 1
    log = tmp_path / "disk" / "traces-0.csv.part"
    assert not log.with_suffix("").exists()
    # All but the other files, and a part of a page of each.
    assert log.stat().st_size > DISK_BYTES - (64 << 10)
    assert log.read_bytes().endswith(b"\n")
    assert len(read_traces(log)) > 50_000
