"""Containers and the machine below them: the Compose driver, images, ports, CPUs, the clock.

`archive`, `envoy_check`, `image_archive`, `images`, `ports`, `provenance` and `doctor` are modules of
functions, imported by their names.
"""

from lab.engine.absent import AbsentDriver
from lab.engine.clock import Clock, SystemClock, wait_until
from lab.engine.compose import PROJECT, ComposeDriver, require_engine
from lab.engine.driver import (
    Container,
    Driver,
    EngineGone,
    EngineRejected,
    Stack,
    StartFailed,
    literal,
    start_failed,
    with_added,
)
from lab.engine.lock import only_run
from lab.engine.machine import CpuSplit, engine_cores, engine_memory_bytes, split_cpus
from lab.engine.meanwhile import Wait, beside
from lab.engine.observed import await_observed
from lab.engine.place import OBSERVER, SPINNER, Place
from lab.engine.scraped import await_scraped, read_scraped
from lab.engine.starting import await_ready, create

__all__ = [
    "OBSERVER",
    "PROJECT",
    "SPINNER",
    "AbsentDriver",
    "Clock",
    "ComposeDriver",
    "Container",
    "CpuSplit",
    "Driver",
    "EngineGone",
    "EngineRejected",
    "Place",
    "Stack",
    "StartFailed",
    "SystemClock",
    "Wait",
    "await_observed",
    "await_ready",
    "await_scraped",
    "beside",
    "create",
    "engine_cores",
    "engine_memory_bytes",
    "literal",
    "only_run",
    "read_scraped",
    "require_engine",
    "split_cpus",
    "start_failed",
    "wait_until",
    "with_added",
]
