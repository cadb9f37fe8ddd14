"""The target `proxy`: an Envoy between the load and a test server, with one of its tracers."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from typing_extensions import override

from lab.contract import Target
from lab.engine import Place, envoy_check
from lab.spec import Experiment
from lab.target.proxy.configuration import Source, load, text
from lab.target.proxy.declaration import ProxyDeclaration
from lab.target.proxy.deployment import ProxyDeployment
from lab.target.proxy.judgement import JUDGEMENT
from lab.target.proxy.settings import ProxyLevel


class Proxy(Target[Place]):
    """See `lab.contract.Target`. `root` is the repository; its files are read when they are first needed."""

    declaration = ProxyDeclaration()
    judgement = JUDGEMENT

    def __init__(self, root: Path) -> None:
        self._folder = root / "envoy" / "proxy"

    @cached_property
    def source(self) -> Source:
        """The files of envoy/proxy/."""
        return load(self._folder)

    def prepare(self, experiment: Experiment, images: Mapping[str, str]) -> None:
        """See `Target.prepare`: each release of Envoy validates its configurations.

        One that several levels have is validated once, named by the first of them.
        """
        envoys = [level for level in experiment.levels() if not level.settings.modelled]
        for image in dict.fromkeys(level.settings.image for level in envoys):
            levels = [level for level in reversed(envoys) if level.settings.image == image]
            named = {text(self.source, level.settings): level.name for level in levels}
            envoy_check.reject_invalid({f"{name}.json": one for one, name in named.items()}, images[image])

    @override
    def deployment(self, level: ProxyLevel, place: Place, out: Path) -> ProxyDeployment:
        return ProxyDeployment(self.source, level, place, out)
