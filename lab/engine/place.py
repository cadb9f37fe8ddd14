"""Where one system runs: an engine, a clock, and CPUs."""

from dataclasses import dataclass
from pathlib import Path

from lab.engine.clock import Clock
from lab.engine.driver import Driver
from lab.engine.machine import CpuSplit

OBSERVER = "observer"
SPINNER = "spinner"


@dataclass(frozen=True)
class Place:
    """One engine with its CPUs.

    `root` is the repository; `journal` the file that lists the faults in force. `alone`: the system has the ports that
    `compose.yaml` names; otherwise the engine chooses them, since other systems run at the same time. `keeps`: what the
    driver finds as it is wanted runs on, and so do its files.
    """

    root: Path
    cpus: CpuSplit
    driver: Driver
    clock: Clock
    journal: Path
    alone: bool = True
    keeps: bool = False
