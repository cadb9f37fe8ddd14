"""How the lab drives a generator whose container stays for all trials of a start (`internal/load` is the other side).

The container takes `load-<n>.json` from the trial's folder, sends that load, and answers with `requests-<n>.csv`. It
ends at a load with 0 requests.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from lab.engine import wait_until
from lab.load.generator import Stage
from lab.record import write_json_atomic
from lab.spec import Protocol

LOAD_MARGIN_S = 60.0
CHECK_EVERY_S = 0.1
# A call of the engine costs CPU that is then missing in the window.
CALL_ENGINE_EVERY_S = 10.0


def warm_ups(protocol: Protocol) -> Iterator[Mapping[str, object]]:
    """Yield the load that warms a start up, by time or by requests; nothing without a warm-up."""
    if protocol.warm_up_s:
        yield {"duration_s": protocol.warm_up_s}
    elif protocol.warm_up_requests:
        yield {"requests": protocol.warm_up_requests}


def send(stage: Stage, service: str, fields: Mapping[str, object], bound_s: float) -> Path:
    """Writes a load and waits for its records; raises what `Stage.failed` makes where they do not come in time."""
    answer = stage.out / f"requests-{_write(stage.out, fields)}.csv"
    end_s = stage.clock.now_s() + bound_s
    while not wait_until(answer.exists, CALL_ENGINE_EVERY_S, CHECK_EVERY_S, stage.clock):
        if not stage.driver.containers()[service].running:
            raise stage.failed(service, "ended before its load")
        if stage.clock.now_s() > end_s:
            raise stage.failed(service, f"had not ended its load after {bound_s:.0f} s")
    return answer


def end(stage: Stage, service: str) -> None:
    """Ends the container; raises what `Stage.failed` makes where it ends with an error."""
    _write(stage.out, {"requests": 0})
    exit_code = stage.driver.wait(service, LOAD_MARGIN_S)
    if exit_code:
        raise stage.failed(service, f"ended with exit code {exit_code}")


def _write(out: Path, fields: Mapping[str, object]) -> int:
    """Writes the next load and returns its number. They count from 0."""
    number = len(list(out.glob("load-*.json")))
    write_json_atomic(out / f"load-{number}.json", {"format": "tollbooth.load", "version": 1, **fields})
    return number
