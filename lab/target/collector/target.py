"""The target `collector`: an OpenTelemetry Collector with one of the pipelines of `collector/`."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from lab.engine import Place
from lab.spec import Experiment
from lab.target.collector.declaration import SINK, CollectorDeclaration
from lab.target.collector.deployment import CollectorDeployment
from lab.target.collector.judgement import CollectorJudgement
from lab.target.collector.settings import CollectorLevel


class Collector:
    """See `lab.contract.Target`. `root` is the repository; its files are read when they are first needed."""

    def __init__(self, root: Path) -> None:
        self._pipelines = root / "collector" / "pipelines"
        self.judgement = CollectorJudgement()

    @cached_property
    def declaration(self) -> CollectorDeclaration:
        """See `Target.declaration`."""
        return CollectorDeclaration(self._sending_to_the_sink)

    def prepare(self, experiment: Experiment, images: Mapping[str, str]) -> None:
        """See `Target.prepare`: a pipeline is used as it is, nothing is generated."""

    def deployment(self, level: CollectorLevel, place: Place, out: Path) -> CollectorDeployment:
        """See `Target.deployment`."""
        return CollectorDeployment(level, place, out)

    def versions(self, trial: Path) -> Mapping[str, str]:
        """See `Target.versions`: the image's version says all."""
        return {}

    def profiled(self, level: CollectorLevel, agent: str) -> None:
        """See `Target.profiled`: a Collector has no JVM."""

    def _sending_to_the_sink(self) -> list[str]:
        return [path.stem for path in self._pipelines.glob("*.yaml") if f"endpoint: {SINK}:" in path.read_text()]
