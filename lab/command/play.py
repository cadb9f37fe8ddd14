"""`lab up`: the system to play with, without load and without measuring."""

import shutil

from lab.command import workshop
from lab.engine import images, ports
from lab.errors import UserError
from lab.run.progress import Progress
from lab.spec.experiment import Level
from lab.spec.problems import FaultsError
from lab.target.mesh.system import System
from lab.target.mesh.variants import variant_named


def up(telemetry: str, topology: str, sidecar: str, progress: Progress) -> None:
    """Starts the system with a telemetry variant and sidecars, waits until it is ready, and says where to look."""
    system = workshop.system(topology)
    variant_named(telemetry, system.variants)
    level = Level(telemetry, telemetry, sidecar=sidecar)
    try:
        proxies = system.sidecars(level)
    except FaultsError as wrong:
        raise UserError(wrong.faults[0].text, "envoy/README.md says what each does") from None
    backend = system.backend(level)
    out = workshop.SCRATCH / "play"
    shutil.rmtree(out, ignore_errors=True)
    images.ensure(("services", *backend.images, *([workshop.ENVOY] if proxies else [])), progress.say)
    system.driver.remove()
    ports.refuse_busy((*workshop.kinds(system.topology), *backend.services))
    system.create(level, out, {})
    with progress.step(f"starting {topology} with {telemetry}, sidecars: {sidecar}"):
        system.start(level, out)
    for question in _questions(system):
        progress.say(f"  ask: {question}")
    for page in backend.pages():
        progress.say(f"  see: {page}")
    for name, admin in system.admins(proxies).items():
        progress.say(f"  see: http://127.0.0.1:{admin.port} ({name})")
    progress.say("  end: make down")


def _questions(system: System) -> list[str]:
    entry = system.topology.nodes[system.topology.entry]
    if entry.kind != "gateway":
        return ["by gRPC, as docs/open-and-closed-loop.md shows"]
    return [f"curl http://127.0.0.1:{ports.port('GATEWAY_PORT')}/{route}" for route in system.topology.routes()]
