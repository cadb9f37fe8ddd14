"""Faults that a sidecar makes: its fault filter, switched by runtime keys, and counted by itself."""

import json
from collections.abc import Iterator, Mapping

from lab.injection.evidence import share_doubt
from lab.injection.fault import Subject
from lab.injection.records import Course, Seen

# Of the listener in front of the service, the only one that has the filter (envoy/faults.yaml).
LISTENER = "http.inbound."


def switch_on(subject: Subject, node: str, keys: Mapping[str, int | str], counter: str) -> Seen:
    """Sets the keys, and then reads the counters: every request that they count from now on met the fault."""
    proxy = subject.proxy(node)
    proxy.set_runtime(keys)
    return _counted(proxy.counters(), counter)


def switch_off(subject: Subject, node: str, keys: Mapping[str, int | str], counter: str) -> Seen:
    """Reads the counters, and then takes the keys away."""
    proxy = subject.proxy(node)
    seen = _counted(proxy.counters(), counter)
    proxy.set_runtime(dict.fromkeys(keys, ""))
    return seen


def percent(share: float) -> str:
    """The share as a runtime value: a whole number would be a percentage, this has six digits."""
    return json.dumps({"numerator": round(share * 1e6), "denominator": "MILLION"})


def share_doubts(course: Course, share: float, done: str) -> Iterator[str]:
    """Yield why the filter did not meet its share of the requests that passed it."""
    faults, requests = (
        float(course.lifted.seen[name]) - float(course.injected.seen[name]) for name in ("faults", "requests")
    )
    if doubt := share_doubt(faults, requests, share, "requests", done):
        yield doubt


def _counted(counters: Mapping[str, int], counter: str) -> Seen:
    """What the filter met, and the requests that reached it."""
    faults, requests = (counters.get(f"{LISTENER}{name}", 0) for name in (f"fault.{counter}", "downstream_rq_total"))
    return {"faults": faults, "requests": requests}
