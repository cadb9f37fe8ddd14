"""The sidecar study's generator: a fixed number of gRPC requests (loadgen/ghz).

Its container stays for all trials of a start. It takes `load-<n>.json` from the trial's folder, puts the system under
that load, and answers with `requests-<n>.csv`; it ends at a load that has no requests.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from lab.engine.clock import wait_until
from lab.load.generator import Loaded, LoadPlan, Stage
from lab.load.schedule import Counted
from lab.record.files import write_json_atomic
from lab.record.requests import read_requests
from lab.spec.load import Capability, Load

# Slower than this no request of the studies is, retries and all.
SLOWEST_REQUEST_S = 10.0
LOAD_MARGIN_S = 60.0
LOOK_EVERY_S = 0.1
# To ask the engine costs CPU that is then missing in the window.
ASK_ENGINE_EVERY_S = 10.0


class GhzLoad(Load):
    """A fixed number of gRPC requests in each trial."""

    generator: Literal["ghz"]
    schedule: Counted

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"warms-up", "counted", "reusable"})


class Ghz:
    """The `LoadGenerator` for a counted load. A start's first load is its warm-up, and is thrown away."""

    service = "ghz"
    model: type[Load] = GhzLoad

    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        """See `LoadGenerator.environment`: it is told by files."""
        return {"SEED": str(plan.seed)}

    def lead_s(self, plan: LoadPlan) -> float:
        """See `LoadGenerator.lead_s`: its container looks for a load all the time."""
        return 0.0

    def begin(self, plan: LoadPlan, stage: Stage) -> None:
        """See `LoadGenerator.begin`."""
        stage.driver.start([self.service])
        protocol = plan.protocol
        if protocol.warm_up_s:
            _run(plan, stage, {"duration_s": protocol.warm_up_s}).unlink()
        elif protocol.warm_up_requests:
            _run(plan, stage, {"requests": protocol.warm_up_requests}).unlink()

    def measure(self, plan: LoadPlan, stage: Stage, request: Mapping[str, object]) -> Loaded:
        """See `LoadGenerator.measure`: the window is from the first request's start to the last one's end."""
        assert isinstance(plan.load, GhzLoad)
        asked = {"requests": plan.load.schedule.requests, **request}
        path = _run(plan, stage, asked)
        requests = read_requests(path)
        start_ns = requests.first_start_ns()
        # A window ends before its end: the last request is to be in it.
        return Loaded(path, start_ns, start_ns, requests.last_end_ns() + 1)

    def end(self, stage: Stage) -> None:
        """See `LoadGenerator.end`."""
        write_json_atomic(stage.out / f"load-{_number(stage.out)}.json", _load({"requests": 0}))
        exit_code = stage.driver.wait(self.service, LOAD_MARGIN_S)
        if exit_code:
            raise stage.failed(self.service, f"ended with exit code {exit_code}")


def _run(plan: LoadPlan, stage: Stage, asked: Mapping[str, object]) -> Path:
    """Asks for one load, and waits for its records."""
    assert isinstance(plan.load, GhzLoad)
    number = _number(stage.out)
    load = _load(
        {
            "target": f"{plan.endpoint.host}:{plan.endpoint.port}",
            "operation": plan.endpoint.routes[0],
            "concurrency": plan.users or None,
            "requests_per_s": plan.load.schedule.requests_per_s,
            # The same in all trials of a block, so that its levels meet the same draws (common random numbers).
            "first_counter": 1,
            **asked,
        }
    )
    write_json_atomic(stage.out / f"load-{number}.json", load)
    answer = stage.out / f"requests-{number}.csv"
    bound_s = _bound_s(plan.load.schedule, plan.protocol.expected_warm_up_s)
    end_s = stage.clock.now_s() + bound_s
    while not wait_until(answer.exists, ASK_ENGINE_EVERY_S, LOOK_EVERY_S, stage.clock):
        if not stage.driver.containers()[Ghz.service].running:
            raise stage.failed(Ghz.service, "ended before its load")
        if stage.clock.now_s() > end_s:
            raise stage.failed(Ghz.service, f"had not ended its load after {bound_s:.0f} s")
    return answer


def _number(out: Path) -> int:
    """The number of the next load: they count from 0, the warm-up's."""
    return len(list(out.glob("load-*.json")))


def _load(fields: Mapping[str, object]) -> dict[str, object]:
    return {"format": "tollbooth.load", "version": 1, **fields}


def _bound_s(schedule: Counted, warm_up_s: float) -> float:
    at_rate_s = schedule.requests / schedule.requests_per_s if schedule.requests_per_s else 0.0
    queued_s = (
        schedule.requests * SLOWEST_REQUEST_S / schedule.concurrency if schedule.concurrency else SLOWEST_REQUEST_S
    )
    return warm_up_s + LOAD_MARGIN_S + max(at_rate_s, queued_s)
