"""An endpoint that answers late."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from lab.fault.planes import ENDPOINT, Role
from lab.fault.sink import SinkFault


class AnswerDelay(SinkFault):
    """The sink answers what the target passes on `size` ms late, and so does the target: it waits for the sink."""

    kind: Literal["answer-delay"]
    size: int = Field(ge=1, le=60_000, description="ms by which an answer is late", examples=[500])
    roles: ClassVar[frozenset[Role]] = frozenset({ENDPOINT})
    grows: ClassVar[str] = "delayed_requests"

    @override
    def behaviour(self) -> Mapping[str, object]:
        return {"behaviour": "slow", "delay_ms": self.size, "sender": self.target}
