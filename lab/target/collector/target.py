"""The target `collector`: an OpenTelemetry Collector with one of the pipelines of `collector/`."""

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

from typing_extensions import override

from lab.contract import Target
from lab.engine import Place
from lab.target.collector.declaration import COLLECTOR, GENERATOR, SINK, CollectorDeclaration
from lab.target.collector.deployment import CollectorDeployment
from lab.target.collector.judgement import JUDGEMENT
from lab.target.collector.settings import CollectorLevel

# What in a pipeline's file says where it sends spans.
DESTINATIONS = (
    ("endpoint: sink:", SINK),
    ("${env:RETURN_", SINK),
    ("${env:RETURN_", GENERATOR),
    ("endpoint: collector:", COLLECTOR),
)


class Collector(Target[Place]):
    """See `lab.contract.Target`. `root` is the repository; its files are read when they are first needed."""

    judgement = JUDGEMENT

    def __init__(self, root: Path) -> None:
        self._pipelines = root / "collector" / "pipelines"

    @cached_property
    @override
    def declaration(self) -> CollectorDeclaration:
        return CollectorDeclaration(self._destinations)

    @override
    def deployment(self, level: CollectorLevel, place: Place, out: Path) -> CollectorDeployment:
        return CollectorDeployment(level, place, out)

    def _destinations(self) -> Mapping[str, Collection[str]]:
        """Return where each pipeline sends its spans, by its name."""
        texts = {path.stem: path.read_text() for path in sorted(self._pipelines.glob("*.yaml"))}
        return {name: [to for marks, to in DESTINATIONS if marks in text] for name, text in texts.items()}
