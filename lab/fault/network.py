"""Queueing disciplines on a node's interface: `tc` in its network namespace, by a container that lives that long.

No container of the lab may change its network. `tc` needs CAP_NET_ADMIN in the target's network namespace and nothing
else; that is what service `nettools` in compose.yaml has. Root on the host could do it too, but not every user is root,
and where the engine runs in a virtual machine the host's root is another one.
"""

import json
import re

from lab.engine.driver import EngineRefused
from lab.fault.fault import APP, CannotInject, Subject

# What tc says of a discipline that the kernel does not have, in its newer words and its older ones.
UNKNOWN_KIND = re.compile(r"qdisc kind is unknown|No such file or directory")


def shape(subject: Subject, node: str, *discipline: str) -> None:
    """Puts a discipline, such as `tbf rate 8kbit ...`, on what the node sends to the network of requests.

    Raises `CannotInject` where this kernel does not have it.
    """
    try:
        _run(subject, node, *discipline)
    except EngineRefused as refusal:
        if UNKNOWN_KIND.search(refusal.message):
            raise CannotInject(f"this kernel has no {discipline[0]} (module sch_{discipline[0]})") from None
        raise


def unshape(subject: Subject, node: str) -> dict[str, int]:
    """Takes the discipline away; returns its counts: packets passed, packets dropped, and times it held one back."""
    discipline = json.loads(_run(subject, node, "off"))[0]
    return {name: int(discipline[name]) for name in ("packets", "drops", "overlimits")}


def _run(subject: Subject, node: str, *words: str) -> str:
    return subject.driver.run_beside(node, ["shape", subject.driver.networks()[APP], *words])
