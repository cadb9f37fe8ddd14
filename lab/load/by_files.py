"""How the lab drives a generator whose container stays for all trials of a start (`internal/load` is the other side).

The container takes `load-<n>.json` from the trial's folder, sends that load, and answers with `requests-<n>.csv`. It
ends at a load with 0 requests.
"""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from typing_extensions import override

from lab.engine import wait_until
from lab.load.generator import Awaited, LoadGenerator, LoadPlan, Stage
from lab.record import join_requests, write_json_atomic

LOAD_MARGIN_S = 60.0
CHECK_EVERY_S = 0.1
# A call of the engine costs CPU that is then missing in the window.
CALL_ENGINE_EVERY_S = 10.0
WARM_UP = "warm-up.csv"


class ByFiles(LoadGenerator):
    """A `LoadGenerator` that is driven by files. A start's first load is its warm-up, if it has one."""

    # The file that is there when a load has ended, by the load's number.
    answer = "requests-{}.csv"

    @abstractmethod
    def fields(self, plan: LoadPlan) -> Mapping[str, object]:
        """Return what all loads of a start say."""

    @abstractmethod
    def bound_s(self, plan: LoadPlan) -> float:
        """Return how long a load may last."""

    def begin(self, plan: LoadPlan, stage: Stage) -> None:
        """See `LoadGenerator.begin`. The warm-up is by time or by requests."""
        stage.driver.start([self.service])
        warm_up = {"duration_s": plan.protocol.warm_up_s, "requests": plan.protocol.warm_up_requests}
        if lasts := {name: value for name, value in warm_up.items() if value}:
            self.send(plan, stage, lasts).rename(stage.out / WARM_UP)

    def with_warm_up(self, stage: Stage, path: Path) -> Path:
        """Returns records, the first of a start with the warm-up's requests: spans and counters include these too."""
        if (warm_up := stage.out / WARM_UP).exists():
            # A new file: that of the container belongs to its user.
            join_requests([warm_up, path], path := stage.out / f"joined-{path.name}")
            warm_up.unlink()
        return path

    def send(self, plan: LoadPlan, stage: Stage, fields: Mapping[str, object]) -> Path:
        """Writes a load and waits for its records; raises what `Stage.failed` makes where they do not come in time."""
        return self.ordered(stage, {**self.fields(plan), **fields}, self.bound_s(plan))()

    def ordered(self, stage: Stage, load: Mapping[str, object], bound_s: float) -> Awaited:
        """Writes a load; what it returns waits for the records, and raises what `Stage.failed` makes."""
        answer, bound_s = stage.out / self.answer.format(_write(stage.out, load)), bound_s + LOAD_MARGIN_S
        end_s = stage.clock.now_s() + bound_s

        def received() -> Path:
            while not wait_until(answer.exists, CALL_ENGINE_EVERY_S, CHECK_EVERY_S, stage.clock):
                if not stage.driver.containers()[self.service].running:
                    raise stage.failed(self.service, "ended before its load")
                if stage.clock.now_s() > end_s:
                    raise stage.failed(self.service, f"had not ended its load after {bound_s:.0f} s")
            return answer

        return received

    @override
    def end(self, stage: Stage) -> None:
        _write(stage.out, {"requests": 0})
        stage.await_end(self.service, LOAD_MARGIN_S)


def _write(out: Path, fields: Mapping[str, object]) -> int:
    """Writes the next load and returns its number. They count from 0."""
    number = len(list(out.glob("load-*.json")))
    write_json_atomic(out / f"load-{number}.json", {"format": "tollbooth.load", "version": 1, **fields})
    return number
