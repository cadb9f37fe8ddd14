"""The target `store`: a Jaeger or a Zipkin that keeps the traces of a generator."""

from collections.abc import Mapping
from pathlib import Path

from lab.engine import Place
from lab.spec import Experiment
from lab.target.store.declaration import StoreDeclaration
from lab.target.store.deployment import StoreDeployment
from lab.target.store.judgement import JUDGEMENT
from lab.target.store.settings import StoreLevel


class Store:
    """See `lab.contract.Target`."""

    def __init__(self) -> None:
        self.declaration = StoreDeclaration()
        self.judgement = JUDGEMENT

    def prepare(self, experiment: Experiment, images: Mapping[str, str]) -> None:
        """See `Target.prepare`: nothing is generated."""

    def deployment(self, level: StoreLevel, place: Place, out: Path) -> StoreDeployment:
        """See `Target.deployment`."""
        return StoreDeployment(level, place, out)

    def versions(self, trial: Path) -> Mapping[str, str]:
        """See `Target.versions`: the image's version says all."""
        return {}

    def profiled(self, level: StoreLevel, agent: str) -> None:
        """See `Target.profiled`: only one of the stores has a JVM."""
