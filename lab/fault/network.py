"""Queueing disciplines on a node's interface: a short-lived container runs `tc` in its network namespace.

No measured container may change its network. `tc` only needs CAP_NET_ADMIN in the target's network namespace, which
service `nettools` of compose.yaml has. Root on the host could run it as well, but not every user is root, and an engine
in a virtual machine has another root.
"""

import json
import re

from lab.engine import EngineRefused
from lab.fault.fault import APP, CannotInject, Subject

# The messages of newer and older versions of tc for a discipline that the kernel does not have.
UNKNOWN_KIND = re.compile(r"qdisc kind is unknown|No such file or directory")


def shape(subject: Subject, node: str, *discipline: str) -> None:
    """Adds a discipline, such as `tbf rate 8kbit ...`, to what the node sends to the network of requests.

    Raises `CannotInject` if this kernel does not have it.
    """
    try:
        _run(subject, node, *discipline)
    except EngineRefused as refusal:
        if UNKNOWN_KIND.search(refusal.message):
            raise CannotInject(f"this kernel has no {discipline[0]} (module sch_{discipline[0]})") from None
        raise


def unshape(subject: Subject, node: str) -> dict[str, int]:
    """Removes the discipline; returns its counts of packets passed, packets dropped and packets held back."""
    discipline = json.loads(_run(subject, node, "off"))[0]
    return {name: int(discipline[name]) for name in ("packets", "drops", "overlimits")}


def _run(subject: Subject, node: str, *words: str) -> str:
    return subject.driver.run_beside(node, ["shape", subject.driver.networks()[APP], *words])
