"""The faults of a mesh's level: what they can be faults of, what is wrong with them, and what injects them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial

from lab.backend import Backend
from lab.fault import rules, run
from lab.fault.fault import DeclaredFault
from lab.fault.planes import BACKEND, ENDPOINT, SERVICE
from lab.fault.sink import Receiver, behave, counted
from lab.record import NO_SIDECAR
from lab.spec import Experiment, Problem
from lab.target.mesh.settings import MeshLevel
from lab.target.mesh.system import Parts, System
from lab.target.mesh.topology import DOMAIN


def targets(nodes: Iterable[str], backend: Backend | type[Backend]) -> dict[str, str]:
    """Return the containers that a fault can be of, with their roles."""
    return {
        **dict.fromkeys(nodes, SERVICE),
        **dict.fromkeys(backend.services, BACKEND),
        **dict.fromkeys(backend.endpoints, ENDPOINT),
    }


def problems(experiment: Experiment, level: MeshLevel, parts: Parts) -> Iterator[Problem]:
    """Yield what is wrong with a level's faults: in the level, among each other and in the protocol."""
    faults, settings, protocol = level.settings.faults, level.settings, experiment.protocol
    if not faults:
        return
    # Several factors may have brought them.
    where = ("factors", level.name, "faults")
    yield from rules.unknown_targets(faults, targets(parts.topology.nodes, parts.backend_kind(settings)), where)
    if settings.sidecar == NO_SIDECAR:
        yield from rules.without_sidecar(faults, where)
    yield from rules.contradictions(faults, protocol.window_s, where)
    if protocol.warm_up_s is None and not experiment.load.can("timed"):
        yield Problem(("protocol", "warm_up_s"), "missing; faults begin at a time, so the warm-up has to end at one")


def injecting(
    system: System, faults: Sequence[DeclaredFault], seed: int, lead_s: float
) -> AbstractContextManager[None]:
    """Return what injects the faults while the block sends the load, whose window begins in `lead_s` seconds."""
    backend = system.backend
    subject = Receiver(
        driver=system.driver,
        clock=system.place.clock,
        ready=system.out / "ready",
        sidecars=system.sidecars,
        proxy_of=system.admin,
        roles=targets(system.topology.nodes, backend),
        domain=DOMAIN,
        behave=partial(behave, backend.http),
        counted=partial(counted, backend.http),
    )
    return run.injecting(faults, subject, system.place.journal, system.out / "faults.jsonl", seed, lead_s)
