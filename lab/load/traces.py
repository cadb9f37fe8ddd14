"""The lab's generator of traces over OTLP, which receives them back from a Collector (loadgen/traces)."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from lab.load.by_files import ByFiles
from lab.load.generator import SECOND_NS, Loaded, LoadPlan, Stage
from lab.record import Fields, Results, write_results
from lab.record.traces import read_generator
from lab.spec import Capability, EntryProtocol, Load, Problem, Schedule

# A ramp's window begins so long after its load: the observer has then seen the generator.
LEAD_S = 2.0
SHORTEST_RAMP_S = 2 * LEAD_S
# The load goes on this long after the window, so that the generator is still there in the sample after its end.
TAIL_S = 3.0
# The generator gives up a trace that has not come back in this time, and a request without an answer in this time.
TIMEOUTS = ("send_timeout_ms", "receive_timeout_ms")
# The loads that are sent until the Collector has connected to the generator.
CONNECT_S = 1.0
CONNECT_TRIES = 20
CONNECTING = {"workers": 10, "workers_per_s": 0, "wait_out_durations": False}
RECORDS = ("traces-", "arrivals-", "generator-")
# What a level may change of the loop itself.
LOOP = ("traces_per_s", "connections", "wait_out_durations")
COUNTED = {
    "traces_sent": "traces_sent",
    "spans_generated": "spans_sent",
    "spans_received": "received_spans",
    "traces_returned": "success",
    "send_timeouts": "send_timeout",
    "send_errors": "send_error",
    "receive_timeouts": "receive_timeout",
    "shutdowns": "shutdown",
}


class Ramp(Schedule):
    """More and more workers, each of whom sends a trace, waits until it has come back, and sends the next."""

    kind: Literal["ramp"]
    workers: int = Field(default=6000, ge=1, le=50_000, description="at the end; the trial ends when all have started")
    workers_per_s: float = Field(default=5, gt=0, le=1000, description="that start each second")

    def expected_s(self) -> float:
        """See `Schedule.expected_s`."""
        return self.workers / self.workers_per_s

    def problems(self) -> Iterator[Problem]:
        """See `Schedule.problems`."""
        if self.expected_s() < SHORTEST_RAMP_S:
            text = f"have all started after {self.expected_s():g} s; a ramp takes {SHORTEST_RAMP_S:g} s at least"
            yield Problem(("workers",), text)


class Workers(Schedule):
    """A constant number of workers, each of whom sends a trace, waits until it has come back, and sends the next."""

    kind: Literal["workers"]
    workers: int = Field(ge=1, le=50_000, description="who all start at once")


class TraceRate(Schedule):
    """Traces at a rate, whatever becomes of them."""

    kind: Literal["trace-rate"]
    traces_per_s: float = Field(gt=0, le=1_000_000, description="mean rate of the arrivals")
    arrivals: Literal["fixed", "poisson"] = Field(
        default="poisson", description="`fixed`: at equal distances; `poisson`: as of many independent clients"
    )
    connections: int = Field(default=100, ge=1, le=50_000, description="which take turns")
    traces_per_request: int = Field(default=1, ge=1, le=10_000, description="due together, in one request")


class TracesLoad(Load):
    """Traces over OTLP, which come back to the generator if the target returns them."""

    generator: Literal["traces"]
    schedule: Annotated[Ramp | Workers | TraceRate, Field(discriminator="kind")]

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"warms-up", "receives-traces"})
    protocol: ClassVar[EntryProtocol | None] = "otlp"

    def can(self, capability: Capability) -> bool:
        """See `Load.can`. A ramp is its own window, and has no warm-up."""
        ramp = frozenset[Capability]({"counted", "receives-traces"})
        return capability in (ramp if isinstance(self.schedule, Ramp) else self.capabilities)


class Traces(ByFiles):
    """The `LoadGenerator` for traces. Warm-up, window and tail of a trial are one load."""

    service = "traces"
    model = TracesLoad
    answer = "generator-{}.jsonl"

    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        """See `LoadGenerator.environment`: the hosts that it sends to. Everything else it reads from files."""
        hosts = plan.endpoint.host.split(",")
        return {"LOAD_TARGET": ",".join(f"{host}:{plan.endpoint.port}" for host in hosts)}

    def lead_s(self, plan: LoadPlan) -> float:
        """See `LoadGenerator.lead_s`."""
        return plan.protocol.warm_up_s or LEAD_S

    def begin(self, plan: LoadPlan, stage: Stage) -> None:
        """See `LoadGenerator.begin`."""
        stage.driver.start([self.service])

    def measure(self, plan: LoadPlan, stage: Stage, request: Mapping[str, object]) -> Loaded:
        """See `LoadGenerator.measure`. Writes what it counted to `results-generator.json`."""
        carried = {name: value for name, value in request.items() if name not in LOOP}
        self._connect(plan, stage, carried)
        load = {**self.fields(plan), **loop(plan, request), **carried}
        counters = read_generator(self.ordered(stage, load, self.bound_s(plan) + _waits_s(carried))())
        write_results(stage.out, "generator", Results(values=counted(counters, load)))
        start_ns = int(counters["t_ns"].values[0])
        window_start_ns = start_ns + round(self.lead_s(plan) * SECOND_NS)
        return Loaded(None, start_ns, window_start_ns, window_start_ns + round(_window_s(plan) * SECOND_NS))

    def _connect(self, plan: LoadPlan, stage: Stage, carried: Mapping[str, Any]) -> None:
        """Sends small loads until something comes back, and deletes their records.

        The Collector tries to connect to the generator before that is there, and then waits for seconds.
        """
        load = {"duration_s": CONNECT_S, "seed": plan.seed, **carried, "coupled": CONNECTING}
        for _ in range(CONNECT_TRIES if carried.get("returns") else 0):
            path = self.ordered(stage, load, CONNECT_S + _waits_s(carried))()
            back = read_generator(path)["received_spans"].values[-1]
            for record in stage.out.glob(f"*-{path.stem.rpartition('-')[2]}.*"):
                if record.name.startswith(RECORDS):
                    record.unlink()
            if back:
                return
        if carried.get("returns"):
            raise stage.failed(self.service, f"got no span back in {CONNECT_TRIES} loads of {CONNECT_S:g} s")

    def fields(self, plan: LoadPlan) -> Mapping[str, object]:
        """See `ByFiles.fields`."""
        return {"duration_s": self.bound_s(plan), "seed": plan.seed}

    def bound_s(self, plan: LoadPlan) -> float:
        """See `ByFiles.bound_s`: how long traces are sent."""
        return self.lead_s(plan) + _window_s(plan) + TAIL_S


def loop(plan: LoadPlan, request: Mapping[str, object]) -> Mapping[str, object]:
    """Return how traces are sent, as a load says it: the schedule, with what the level changes of it."""
    assert isinstance(plan.load, TracesLoad)
    schedule = plan.load.schedule
    if isinstance(schedule, TraceRate):
        changed = {name: request[name] for name in ("traces_per_s", "connections") if request.get(name) is not None}
        return {"decoupled": {**schedule.model_dump(exclude={"kind"}), **changed}}
    workers_per_s = schedule.workers_per_s if isinstance(schedule, Ramp) else 0
    waits = request.get("wait_out_durations", True)
    return {
        "coupled": {"workers": schedule.workers, "workers_per_s": workers_per_s, "wait_out_durations": waits},
    }


def counted(counters: Fields, load: Mapping[str, Any]) -> Mapping[str, float]:
    """Return what the generator counted over a load, and what was planned if it is an open loop or a ramp."""
    values = {name: float(counters[column].values[-1]) for name, column in COUNTED.items()}
    if open_loop := load.get("decoupled"):
        values["traces_planned"] = open_loop["traces_per_s"] * load["duration_s"]
    elif workers_per_s := load["coupled"]["workers_per_s"]:
        values["workers_planned_per_s"] = workers_per_s
    return {**values, "load_s": load["duration_s"]}


def _waits_s(carried: Mapping[str, Any]) -> float:
    """Return how long a load goes on after its last trace, at most."""
    return float(sum(carried.get(name, 0) for name in TIMEOUTS)) / 1000


def _window_s(plan: LoadPlan) -> float:
    assert isinstance(plan.load, TracesLoad)
    return plan.protocol.window_s or plan.load.schedule.expected_s() - LEAD_S
