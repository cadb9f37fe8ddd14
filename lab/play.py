"""`lab up`: the system to play with, without load and without measuring."""

import shutil

from lab import images, ports, workshop
from lab.progress import Progress
from lab.spec import Level
from lab.variants import variant_named


def up(telemetry: str, topology: str, progress: Progress) -> None:
    """Starts the system with one telemetry variant, waits until it is ready, and says where to look."""
    system = workshop.system(topology)
    variant_named(telemetry, system.variants)
    level = Level(telemetry, telemetry)
    backend = system.backend(level)
    out = workshop.SCRATCH / "play"
    shutil.rmtree(out, ignore_errors=True)
    images.ensure(("services", *backend.images), progress.say)
    system.driver.remove()
    ports.refuse_busy((*workshop.kinds(system.topology), *backend.services))
    system.create(level, out, {})
    with progress.step(f"starting {topology} with {telemetry}"):
        system.start(level, out)
    for route in system.topology.routes():
        progress.say(f"  ask: curl http://127.0.0.1:{ports.port('GATEWAY_PORT')}/{route}")
    for page in backend.pages():
        progress.say(f"  see: {page}")
    progress.say("  end: make down")
