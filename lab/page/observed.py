"""What the observer sees of the containers, from the end of `counters.jsonl`: series in memory, and rates now."""

import bisect
import itertools
import json
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.record import SECOND_NS

KEPT_S = 600
WINDOW_S = 5.0
HISTORY = 60
# A container without a sample for so long has ended.
SEEN_WITHIN_S = 5.0

Samples = deque[tuple[int, int]]
"""A counter: time and value."""


def _samples() -> Samples:
    return deque(maxlen=KEPT_S)


@dataclass
class Usage:
    """One container's counters by field, its interfaces' by interface and field, and its memory."""

    counters: dict[str, Samples] = field(default_factory=dict)
    interfaces: dict[tuple[str, str], Samples] = field(default_factory=dict)
    memory_bytes: int | None = None

    def last_ns(self) -> int:
        """When it was last sampled; 0 before the first sample."""
        cpu = self.counters.get("cpu_usage_ns")
        return cpu[-1][0] if cpu else 0


class Observed:
    """Everything that the observer wrote lately. Fed with its lines."""

    def __init__(self) -> None:
        self.containers: dict[str, Usage] = {}

    def feed(self, lines: Iterable[str]) -> None:
        """Takes lines of `counters.jsonl`; leaves out what is none of its records."""
        for line in lines:
            try:
                data = json.loads(line)
            except ValueError:
                continue
            if isinstance(data, dict):
                self._take(data)

    def _take(self, data: Mapping[str, Any]) -> None:
        match data:
            case {"kind": "container", "name": name, "t_ns": t_ns, "cpu_usage_ns": used_ns}:
                usage = self._of(name)
                usage.counters.setdefault("cpu_usage_ns", _samples()).append((t_ns, used_ns))
                if usage.memory_bytes is None:
                    usage.memory_bytes = data.get("memory_usage_bytes")
            case {"kind": "slow", "name": name, "t_ns": t_ns}:
                usage = self._of(name)
                if "jit_cpu_ns" in data:
                    usage.counters.setdefault("jit_cpu_ns", _samples()).append((t_ns, data["jit_cpu_ns"]))
                # Without pages of files that the kernel can drop.
                usage.memory_bytes = data.get("memory_working_set_bytes", usage.memory_bytes)
            case {"kind": "network", "name": name, "t_ns": t_ns, "interface": interface}:
                for counter in ("rx_bytes", "tx_bytes"):
                    if counter in data:
                        key = (interface, counter)
                        self._of(name).interfaces.setdefault(key, _samples()).append((t_ns, data[counter]))

    def last_ns(self) -> int:
        """When any container was last sampled; 0 before the first sample."""
        return max((usage.last_ns() for usage in self.containers.values()), default=0)

    def table(self, roles: Mapping[str, str]) -> list[dict[str, Any]]:
        """Return what each running container uses now, in order of `roles`. None: not measured."""
        seen_ns = self.last_ns() - SEEN_WITHIN_S * SECOND_NS
        return [
            _row(name, role, self.containers[name])
            for name, role in roles.items()
            if name in self.containers and self.containers[name].last_ns() > seen_ns
        ]

    def samples(self, names: Iterable[str], counter: str) -> list[Samples]:
        """Return a counter of those of the containers that have it."""
        known = (self.containers[name].counters for name in names if name in self.containers)
        return [counters[counter] for counters in known if counter in counters]

    def _of(self, name: str) -> Usage:
        return self.containers.setdefault(name, Usage())


def _row(name: str, role: str, usage: Usage) -> dict[str, Any]:
    cpu = usage.counters["cpu_usage_ns"]
    history = [per_s(*pair) for pair in itertools.pairwise(list(cpu)[-HISTORY - 1 :])]
    # These are in the network namespace of another container, which has the same counters.
    own = role not in ("sidecar", "guard")
    return {
        "name": name,
        "role": role,
        "cpu_cores": _cores(rate(cpu)),
        "memory_bytes": usage.memory_bytes,
        "network_receive_bytes_per_s": _network(usage, "rx_bytes") if own else None,
        "network_transmit_bytes_per_s": _network(usage, "tx_bytes") if own else None,
        "history": {"cpu_cores": [_cores(value) for value in history if value is not None]},
    }


def _network(usage: Usage, counter: str) -> float | None:
    rates = [rate(samples) for (_, name), samples in usage.interfaces.items() if name == counter]
    known = [value for value in rates if value is not None]
    return round(sum(known), 1) if known else None


def _cores(ns_per_s: float | None) -> float | None:
    return None if ns_per_s is None else round(ns_per_s / SECOND_NS, 4)


def rate(samples: Samples) -> float | None:
    """Return a counter's increase per second over the last `WINDOW_S`; None where its samples do not say."""
    found = list(samples)
    first = bisect.bisect_left(found, (found[-1][0] - round(WINDOW_S * SECOND_NS), -1)) if found else 0
    return per_s(found[first], found[-1]) if len(found) - first > 1 else None


def per_s(before: tuple[int, int], after: tuple[int, int]) -> float | None:
    """Return a counter's increase per second between two samples; None if it began anew in between."""
    if after[0] <= before[0] or after[1] < before[1]:
        return None
    return (after[1] - before[1]) / (after[0] - before[0]) * SECOND_NS
