"""A bench whose engine takes no time, for the tests of runs."""

from pathlib import Path

from lab.engine.machine import CpuSplit
from lab.run.stand import Bench
from lab.spec.experiment import parse_experiment
from lab.target.mesh import sidecars
from lab.target.mesh.system import System
from lab.target.mesh.topology import load_topology
from lab.target.mesh.variants import load_variants
from tests.fake import FakeDriver

ROOT = Path(__file__).resolve().parents[1]


def bench(driver: FakeDriver, spec: str) -> Bench:
    """Return the bench of an experiment called `test`, all on the mesh."""
    path = ROOT / "experiments" / "topologies" / "mesh.yaml"
    system = System(
        root=ROOT,
        topology=load_topology(path),
        topology_path=path,
        variants=load_variants(ROOT / "services" / "telemetry"),
        envoy=sidecars.load(ROOT / "envoy"),
        cpus=CpuSplit((0, 1), (0, 1)),
        driver=driver,
        clock=driver.clock,
        journal=ROOT / ".lab" / "faults.json",
    )
    return Bench(parse_experiment(spec, "test"), {"mesh": system})
