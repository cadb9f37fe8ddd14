"""Faults that a sidecar makes: its fault filter, switched by runtime keys, and counted by itself."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from lab.fault.evidence import share_doubt
from lab.fault.fault import DeclaredFault, Subject
from lab.record.faults import Course, Seen

# Of the listener in front of the service, the only one that has the filter (envoy/faults.yaml).
LISTENER = "http.inbound."


class ByProxy(DeclaredFault):
    """A fault by the filter of the target's sidecar. A kind says by which keys, and what the filter counts."""

    needs_sidecar: ClassVar[bool] = True
    counter: ClassVar[str]
    """The filter's own count of what it did."""

    @abstractmethod
    def keys(self) -> dict[str, int | str]:
        """Return the runtime keys that switch it on."""

    def inject(self, subject: Subject) -> Seen:
        """Set the keys, and then read the counters: every request that they count from now on met the fault."""
        proxy = subject.proxy(self.target)
        proxy.set_runtime(self.keys())
        return _counted(proxy.counters(), self.counter)

    def lift(self, subject: Subject) -> Seen:
        """Read the counters, and then take the keys away."""
        proxy = subject.proxy(self.target)
        seen = _counted(proxy.counters(), self.counter)
        proxy.set_runtime(dict.fromkeys(self.keys(), ""))
        return seen


def percent(share: float) -> str:
    """The share as a runtime value: a whole number would be a percentage, this has six digits."""
    return json.dumps({"numerator": round(share * 1e6), "denominator": "MILLION"})


def share_doubts(course: Course, share: float, done: str) -> Iterator[str]:
    """Yield why the filter did not meet its share of the requests that passed it."""
    if doubt := share_doubt(course.counted("faults"), course.counted("requests"), share, "requests", done):
        yield doubt


def _counted(counters: Mapping[str, int], counter: str) -> Seen:
    """What the filter met, and the requests that reached it."""
    faults, requests = (counters.get(f"{LISTENER}{name}", 0) for name in (f"fault.{counter}", "downstream_rq_total"))
    return {"faults": faults, "requests": requests}
