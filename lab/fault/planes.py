"""What a fault's target is to the system: its role, and the network on which it does its work."""

from collections.abc import Iterator
from typing import Literal

from lab.fault.evidence import Span, growth
from lab.record import Fields, TrialData

Role = Literal["service", "backend", "endpoint"]
SERVICE: Role = "service"
BACKEND: Role = "backend"
ENDPOINT: Role = "endpoint"
"""A backend that waits for the sink before it answers, such as the Collectors of the backend `collectors`."""
ANY: frozenset[Role] = frozenset({SERVICE, BACKEND, ENDPOINT})
# The networks of compose.yaml.
REQUESTS, TELEMETRY = "app", "telemetry"


def network(role: str) -> str:
    """Return the network of a role's work: a service's is that of requests."""
    return REQUESTS if role == SERVICE else TELEMETRY


def interfaces(data: TrialData, name: str) -> Iterator[Fields]:
    """Yield the counters of each interface that a container had on the network of its work."""
    container = data.trial.containers.get(name)
    own = network(container.role if container else SERVICE)
    yield from (one.counters for one in data.counters.interfaces if (one.container, one.network) == (name, own))


def passed(data: TrialData, name: str, field: str, span: Span) -> float:
    """Return how a counter of these interfaces grew within a span; 0 if there is none."""
    return sum(one.amount for fields in interfaces(data, name) if (one := growth(fields, field, span)))
