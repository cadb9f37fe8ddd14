"""Load generators and schedules. Generators of requests write `requests.csv`.

One module and one class for each generator, one row in `GENERATORS`; its program is in `loadgen/`.
"""

from collections.abc import Mapping, Sequence

from lab.load.fortio import Fortio
from lab.load.generator import (
    SETTLE_S,
    WARM_UP_REQUEST_BOUND_S,
    Awaited,
    Loaded,
    LoadGenerator,
    LoadPlan,
    Stage,
    TurnsGenerator,
)
from lab.load.ghz import Ghz
from lab.load.none import NoLoad
from lab.load.open_loop import OpenLoopHttp
from lab.load.schedule import OpenLoop, Slices
from lab.load.telemetrygen import Telemetrygen
from lab.load.traces import Traces
from lab.load.users import Users
from lab.spec import Load

__all__ = [
    "GENERATORS",
    "LOADS",
    "SETTLE_S",
    "WARM_UP_REQUEST_BOUND_S",
    "Awaited",
    "LoadGenerator",
    "LoadPlan",
    "Loaded",
    "OpenLoop",
    "Slices",
    "Stage",
    "TurnsGenerator",
]

GENERATORS: Mapping[str, LoadGenerator] = {
    "locust": Users("locust"),
    "visitors": Users("visitors"),
    "ghz": Ghz(),
    "fortio": Fortio(),
    "open-loop": OpenLoopHttp(),
    "telemetrygen": Telemetrygen(),
    "traces": Traces(),
}

LOADS: Sequence[type[Load]] = (NoLoad, *dict.fromkeys(generator.model for generator in GENERATORS.values()))
"""What an experiment file may say of a load: a model for each generator."""
