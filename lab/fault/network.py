"""Queueing disciplines on a node's interface: a short-lived container runs `tc` in its network namespace.

No measured container may change its network. `tc` only needs CAP_NET_ADMIN in the target's network namespace, which
service `nettools` of compose.yaml has. Root on the host could run it as well, but not every user is root, and an engine
in a virtual machine has another root.
"""

import json
import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from lab.engine import EngineRejected
from lab.fault.fault import CannotInject, DeclaredFault, Part, Subject
from lab.record import Seen

# The messages of newer and older versions of tc for a discipline that the kernel does not have.
UNKNOWN_KIND = re.compile(r"qdisc kind is unknown|No such file or directory")


class ByNetwork(DeclaredFault):
    """A fault of what the target sends to the network of its work. A kind has the discipline."""

    part: ClassVar[Part] = "network"
    images: ClassVar[tuple[str, ...]] = ("nettools",)

    @abstractmethod
    def discipline(self) -> Sequence[str]:
        """Return the discipline and its options, in the words of `tc`."""

    def inject(self, subject: Subject) -> Seen:
        """Add the discipline. Raises `CannotInject` if this kernel does not have it."""
        kind, *options = self.discipline()
        try:
            self._shape(subject, kind, *options)
        except EngineRejected as error:
            if UNKNOWN_KIND.search(error.message):
                raise CannotInject(f"this kernel has no {kind} (module sch_{kind})") from None
            raise
        return {}

    def lift(self, subject: Subject) -> Seen:
        """Remove the discipline; return its counts of packets passed, packets dropped and packets held back."""
        removed = json.loads(self._shape(subject, "off"))[0]
        return {name: int(removed[name]) for name in ("packets", "drops", "overlimits")}

    def _shape(self, subject: Subject, *words: str) -> str:
        return subject.driver.run_beside(
            self.target, ["shape", subject.driver.networks()[subject.network(self.target)], *words]
        )
