"""The target `store`: a Jaeger or a Zipkin that keeps the traces of a generator."""

from pathlib import Path

from typing_extensions import override

from lab.contract import Target
from lab.engine import Place
from lab.target.store.declaration import StoreDeclaration
from lab.target.store.deployment import StoreDeployment
from lab.target.store.judgement import JUDGEMENT
from lab.target.store.settings import StoreLevel


class Store(Target[Place]):
    """See `lab.contract.Target`."""

    declaration = StoreDeclaration()
    judgement = JUDGEMENT

    @override
    def deployment(self, level: StoreLevel, place: Place, out: Path) -> StoreDeployment:
        return StoreDeployment(level, place, out)
