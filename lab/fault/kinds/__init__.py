"""The kinds of faults: one class in one file each, and one row in `AnyFault`."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, get_args

from pydantic import Field, TypeAdapter

from lab.fault.fault import DeclaredFault
from lab.fault.kinds.answer_delay import AnswerDelay
from lab.fault.kinds.application_error import ApplicationError
from lab.fault.kinds.application_latency import ApplicationLatency
from lab.fault.kinds.bandwidth_cap import BandwidthCap
from lab.fault.kinds.cpu_cut import CpuCut
from lab.fault.kinds.cut_off import CutOff
from lab.fault.kinds.envoy_abort import EnvoyAbort
from lab.fault.kinds.envoy_delay import EnvoyDelay
from lab.fault.kinds.frozen import Frozen
from lab.fault.kinds.killed import Killed
from lab.fault.kinds.packet_delay import PacketDelay
from lab.fault.kinds.packet_loss import PacketLoss

MAX_FAULTS = 20

AnyFault = Annotated[
    AnswerDelay
    | ApplicationError
    | ApplicationLatency
    | EnvoyAbort
    | EnvoyDelay
    | Killed
    | Frozen
    | CpuCut
    | CutOff
    | BandwidthCap
    | PacketLoss
    | PacketDelay,
    Field(discriminator="kind"),
]
Faults = Annotated[Sequence[AnyFault], Field(max_length=MAX_FAULTS)]
"""The faults of a level."""

_FAULT: TypeAdapter[AnyFault] = TypeAdapter(AnyFault)


KINDS: Mapping[str, type[DeclaredFault]] = {
    get_args(fault.model_fields["kind"].annotation)[0]: fault for fault in get_args(get_args(AnyFault)[0])
}


def parse_fault(declared: Mapping[str, Any]) -> DeclaredFault:
    """Return a fault from its declaration, as records keep it; raises pydantic's `ValidationError`."""
    return _FAULT.validate_python(dict(declared))
