"""The target `jmh`: a benchmark of services/benchmarks, in a JVM of its own."""

import re
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

from typing_extensions import override

from lab.contract import Target
from lab.engine import Place
from lab.record.jmh import read_jmh
from lab.target.jmh.declaration import JmhDeclaration
from lab.target.jmh.deployment import RECORD, JmhDeployment
from lab.target.jmh.judgement import JUDGEMENT
from lab.target.jmh.settings import JmhLevel

SOURCES = "services/benchmarks/src/main/java/tollbooth/benchmarks/spans"
# A field of a benchmark that JMH sets.
PARAMETER = re.compile(r"@Param\([^)]*\)\s+public \w+ (\w+);")


class Jmh(Target[Place]):
    """See `lab.contract.Target`. `root` is the repository; its files are read when they are first needed.

    A profile is of a level's load, and a benchmark has none.
    """

    judgement = JUDGEMENT

    def __init__(self, root: Path) -> None:
        self._sources = root / SOURCES

    @cached_property
    @override
    def declaration(self) -> JmhDeclaration:
        return JmhDeclaration(self._benchmarks)

    @override
    def deployment(self, level: JmhLevel, place: Place, out: Path) -> JmhDeployment:
        return JmhDeployment(level, place, out)

    @override
    def versions(self, trial: Path) -> Mapping[str, str]:
        if not (trial / RECORD).exists():
            return {}
        return {name: one for run in read_jmh(trial / RECORD).results for name, one in run.versions.items()}

    def _benchmarks(self) -> Mapping[str, Collection[str]]:
        """Return the parameters of each benchmark of spans, by its name."""
        return {path.stem: PARAMETER.findall(path.read_text()) for path in self._sources.glob("*Benchmark.java")}
