"""The lab's generator of traces over OTLP, which receives them back from a Collector (loadgen/traces)."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from lab.engine import read_scraped, wait_until
from lab.load.by_files import ByFiles
from lab.load.generator import Loaded, LoadPlan, Stage
from lab.load.objective import Objective
from lab.load.traces_schedules import HELD_S, LEAD_S, Ramp, Search, TracesSchedule, loop
from lab.load.traces_search import search_rate
from lab.record import SECOND_NS, Fields, Results, write_results
from lab.record.data import STREAMS
from lab.record.search import ShortTrial, write_search
from lab.record.traces import read_generator, read_traces
from lab.spec import Capability, EntryProtocol, Load

# The load goes on this long after the window, so that the generator is still there in the sample after its end.
TAIL_S = 3.0
# The loads that are sent until the Collector has connected to the generator, and how long that may take.
CONNECT_S = 1.0
CONNECT_BOUND_S = 20.0
CONNECTING = {"workers": 10, "workers_per_s": 0, "wait_out_durations": False}
RECORDS = ("traces-", "arrivals-", "generator-")
# What is not passed to the generator as it is: changes of the loop, and which traces will come back.
APART = ("traces_per_s", "connections", "wait_out_durations", "keeps", "sampling_percent")
COUNTED = {
    "traces_sent": "traces_sent",
    "spans_generated": "spans_sent",
    "spans_received": "received_spans",
    "traces_returned": "success",
    "send_timeouts": "send_timeout",
    "send_errors": "send_error",
    "receive_timeouts": "receive_timeout",
    "shutdowns": "shutdown",
    # Of an open loop: its log says later what became of these.
    "traces_accepted": "accepted",
}

Send = Callable[[float, Mapping[str, Any]], Path]
"""Sends a load: for how many seconds, and how. Returns where it was answered."""


class TracesLoad(Load):
    """Traces over OTLP, which come back to the generator if the target returns them."""

    generator: Literal["traces"]
    schedule: Annotated[TracesSchedule, Field(discriminator="kind")]

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"warms-up", "receives-traces"})
    protocol: ClassVar[EntryProtocol | None] = "otlp"

    def can(self, capability: Capability) -> bool:
        """See `Load.can`. A ramp is its own window, and has no warm-up. The same is true of a search."""
        return capability in (
            {"counted", "receives-traces"} if isinstance(self.schedule, Ramp | Search) else self.capabilities
        )


class Traces(ByFiles):
    """The `LoadGenerator` for traces. Warm-up, window and tail of a trial are one load."""

    service = "traces"
    model = TracesLoad
    answer = "generator-{}.jsonl"

    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        """See `LoadGenerator.environment`: the hosts that it sends to. Everything else it reads from files."""
        return {"LOAD_TARGET": ",".join(f"{host}:{plan.endpoint.port}" for host in plan.endpoint.host.split(","))}

    @override
    def lead_s(self, plan: LoadPlan) -> float:
        return plan.protocol.warm_up_s or LEAD_S

    @override
    def begin(self, plan: LoadPlan, stage: Stage) -> None:
        stage.driver.start([self.service])

    def measure(self, plan: LoadPlan, stage: Stage, request: Mapping[str, object]) -> Loaded:
        """See `LoadGenerator.measure`. Writes what it counted to `results-generator.json`."""
        carried = {name: value for name, value in request.items() if name not in APART}
        send = partial(self._send, plan, stage, carried)
        if carried.get("returns"):
            self._connect(stage, send, CONNECT_BOUND_S + _waits_s(carried))
        sending = _sending(plan, stage, send, request)
        # When a load of workers ends, nobody learns any more whether the traces on their way would have failed.
        lasts_s = self.bound_s(plan) + (_waits_s(carried) if "coupled" in sending else 0)
        counters = read_generator(send(lasts_s, sending))
        write_results(stage.out, "generator", Results(values=counted(counters, lasts_s, sending)))
        start_ns = int(counters["t_ns"].values[0])
        window_start_ns = start_ns + round(self.lead_s(plan) * SECOND_NS)
        return Loaded(None, start_ns, window_start_ns, window_start_ns + round(_window_s(plan) * SECOND_NS))

    def _send(
        self, plan: LoadPlan, stage: Stage, carried: Mapping[str, Any], lasts_s: float, sending: Mapping[str, Any]
    ) -> Path:
        """Sends a load and waits for its records."""
        load = {**self.fields(plan), "duration_s": lasts_s, **sending, **carried}
        return self.ordered(stage, load, lasts_s + _waits_s(carried))()

    def _connect(self, stage: Stage, send: Send, bound_s: float) -> None:
        """Sends small loads until something comes back, and deletes their records.

        The Collector tries to connect to the generator before that is there, and then waits for seconds. A pipeline may
        hold traces for longer, such as tail sampling until its decision. So the bound contains the receive timeout,
        which such a level must set to more than that.
        """

        def connected() -> bool:
            path = send(CONNECT_S, {"coupled": CONNECTING})
            back = read_generator(path)["received_spans"].values[-1]
            _forget(path)
            return bool(back)

        if not wait_until(connected, bound_s, 0, stage.clock):
            raise stage.failed(self.service, f"got no span back in {bound_s:g} s")

    @override
    def fields(self, plan: LoadPlan) -> Mapping[str, object]:
        return {"seed": plan.seed}

    def bound_s(self, plan: LoadPlan) -> float:
        """See `ByFiles.bound_s`: how long traces are sent, but for what `measure` adds for workers."""
        return self.lead_s(plan) + _window_s(plan) + TAIL_S


def counted(counters: Fields, lasts_s: float, sending: Mapping[str, Any]) -> Mapping[str, float]:
    """Return what the generator counted over a load, and what was planned if it is an open loop or a ramp."""
    values = {name: float(counters[column].values[-1]) for name, column in COUNTED.items()}
    if open_loop := sending.get("decoupled"):
        values["traces_planned"] = open_loop["traces_per_s"] * lasts_s
    elif workers_per_s := sending["coupled"]["workers_per_s"]:
        values["workers_planned_per_s"] = workers_per_s
    return {**values, "load_s": lasts_s}


def _sending(plan: LoadPlan, stage: Stage, send: Send, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns how the trial's traces are sent. A search is made now, and leaves `search.json`."""
    schedule = _schedule(plan)
    if not isinstance(schedule, Search):
        return loop(schedule, request)
    # The rate is what is searched for.
    changed = {"connections": request.get("connections")}
    objective = Objective(
        schedule.delay_p99_ms,
        schedule.traces_per_request,
        request.get("keeps", "all"),
        request.get("sampling_percent", 100.0),
    )

    def send_short(lasts_s: float, traces_per_s: float) -> ShortTrial:
        path = send(lasts_s, loop(schedule.at(traces_per_s), changed))
        log = read_traces(path.with_name(f"traces-{_number(path)}.csv"))
        _forget(path)
        # What is dropped until the next reading belongs to this trial, not to the next one.
        collectors = read_scraped(stage.out / STREAMS["collectors"].file, stage.driver, stage.clock)
        return objective.judge(log, collectors, lasts_s, traces_per_s)

    # The observer has to see the generator before the first trial, whose CPU may decide.
    _forget(send(LEAD_S, loop(schedule.at(schedule.lowest_traces_per_s), changed)))
    found = search_rate(send_short, schedule.lowest_traces_per_s, schedule.highest_traces_per_s, plan.seed)
    write_search(stage.out, found)
    return loop(schedule.at(found.low or schedule.lowest_traces_per_s), changed)


def _forget(answer: Path) -> None:
    """Deletes the records of a load."""
    for record in answer.parent.glob(f"*-{_number(answer)}.*"):
        if record.name.startswith(RECORDS):
            record.unlink()


def _number(answer: Path) -> str:
    """Return the number of the load that was answered."""
    return answer.stem.rpartition("-")[2]


def _waits_s(carried: Mapping[str, Any]) -> float:
    """Return how long after it was sent a trace is answered, and has come back if it returns, or has failed."""
    receive_ms = carried["receive_timeout_ms"] if carried.get("returns") else 0
    return float(carried.get("send_timeout_ms", 0) + receive_ms) / 1000


def _schedule(plan: LoadPlan) -> TracesSchedule:
    assert isinstance(plan.load, TracesLoad)
    return plan.load.schedule


def _window_s(plan: LoadPlan) -> float:
    schedule = _schedule(plan)
    if isinstance(schedule, Search):
        return HELD_S
    return plan.protocol.window_s or schedule.expected_s() - LEAD_S
