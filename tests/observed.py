"""The observer's record of a made-up trial: containers that use the same share of a core all the time."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

SECOND_NS = 1_000_000_000
START_NS = 1_760_000_000 * SECOND_NS
"""When the load began. The record begins 2 s before."""

More = Callable[[int], Iterable[Mapping[str, Any]]]
"""Further samples of a second. It is given the seconds since the record began, at least 1."""


def counters(
    cores: Mapping[str, float], steal: float = 0.0, seconds: int = 22, throttled: float = 0.0, more: More = lambda _: ()
) -> str:
    """Return `counters.jsonl` of containers that use `cores` each, sampled every second.

    `steal`: share of the host's CPUs. `throttled`: share of the time, of each container.
    """
    header = {"format": "tollbooth.counters", "version": 1, "interval_ns": SECOND_NS, "t_ns": START_NS}
    lines: list[Mapping[str, Any]] = [header]
    for second in range(-2, seconds):
        since_s = second + 3
        t_ns = START_NS + second * SECOND_NS
        slow = {"memory_working_set_bytes": 40 << 20, "cpu_throttled_ns": round(throttled * since_s * SECOND_NS)}
        for name, share in cores.items():
            used_ns = round(share * since_s * SECOND_NS)
            lines.append({"kind": "container", "t_ns": t_ns, "name": name, "cpu_usage_ns": used_ns})
            lines.append({"kind": "slow", "t_ns": t_ns, "name": name, **slow})
        lines += [{"t_ns": t_ns, **sample} for sample in more(since_s)]
        times = dict.fromkeys(("cpu_nice_ns", "cpu_system_ns", "cpu_irq_ns", "cpu_softirq_ns"), 0)
        busy_ns, steal_ns = (round(share * since_s * SECOND_NS) for share in (sum(cores.values()), 2 * steal))
        host = {"cpus": 2, "cpu_user_ns": busy_ns, "cpu_steal_ns": steal_ns, **times}
        lines.append({"kind": "host", "t_ns": t_ns, **host})
    return "".join(json.dumps(line) + "\n" for line in lines)
