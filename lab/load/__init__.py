"""Load generators, seen from the lab: which container, told what. All of them write `requests.csv`.

One file and one class per generator, one row in `GENERATORS`; what runs in its container is in `loadgen/`.
"""

from lab.load.generator import Loaded, LoadGenerator, LoadPlan, Stage
from lab.load.ghz import Ghz
from lab.load.users import Users

__all__ = ["GENERATORS", "LoadGenerator", "LoadPlan", "Loaded", "Stage"]

GENERATORS: dict[str, LoadGenerator] = {
    "locust": Users("locust"),
    "visitors": Users("visitors"),
    "ghz": Ghz(),
}
