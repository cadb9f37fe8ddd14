"""Faults of a sidecar's fault filter: runtime keys switch it, and it counts what it does."""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

from lab.fault import evidence
from lab.fault.fault import DeclaredFault, Subject
from lab.fault.planes import SERVICE, Role
from lab.record import Course, Seen

# The listener in front of the service is the only one with the filter (envoy/faults.yaml).
LISTENER = "http.inbound."


class ByProxy(DeclaredFault):
    """A fault by the filter of the target's sidecar. A kind has the keys and the filter's counter."""

    needs_sidecar: ClassVar[bool] = True
    roles: ClassVar[frozenset[Role]] = frozenset({SERVICE})
    counter: ClassVar[str]
    """The filter's count of its actions."""

    @abstractmethod
    def keys(self) -> dict[str, int | str]:
        """Return the runtime keys that switch the fault on."""

    def inject(self, subject: Subject) -> Seen:
        """Set the keys, then read the counters: every request counted from now on meets the fault."""
        proxy = subject.proxy(self.target)
        proxy.set_runtime(self.keys())
        return _counted(proxy.counters(), self.counter)

    def lift(self, subject: Subject) -> Seen:
        """Read the counters, then remove the keys."""
        proxy = subject.proxy(self.target)
        seen = _counted(proxy.counters(), self.counter)
        proxy.set_runtime(dict.fromkeys(self.keys(), ""))
        return seen


def percent(share: float) -> str:
    """The share as a runtime value with six digits; an integer would be a percentage."""
    return json.dumps({"numerator": round(share * 1e6), "denominator": "MILLION"})


def share_doubts(course: Course, share: float, done: str) -> Iterator[str]:
    """Yield why the filter did not affect its share of the requests that passed it."""
    return evidence.share_doubts(course.counted("faults"), course.counted("requests"), share, "requests", done)


def _counted(counters: Mapping[str, int], counter: str) -> Seen:
    """The requests that the filter affected, and those that reached it."""
    faults, requests = (counters.get(f"{LISTENER}{name}", 0) for name in (f"fault.{counter}", "downstream_rq_total"))
    return {"faults": faults, "requests": requests}
