"""The rows of `lab check model`: how well the capacity model predicts points of the grid that it was not fitted to."""

from collections.abc import Iterator, Mapping

from lab.analysis.checklist import MISSING, Row, at_least, judged
from lab.analysis.collector.capacity import LEAST_HELD_BACK, Check, held_back
from lab.analysis.collector.grid import Grid

QUESTION = "Does the capacity model predict points that it was not fitted to?"

# Required: the median of the relative errors.
MOST_MEDIAN_PERCENT = 10.0
BOUND = f"median at most {MOST_MEDIAN_PERCENT:g} %"


def required(grids: Mapping[str, Grid], seed: int) -> Iterator[Row]:
    """Judge the model of each pipeline: its CPU and its memory.

    `seed` draws the points that are held back. Raises `ValueError` if the others do not determine the model.
    """
    for pipeline, grid in grids.items():
        checks = held_back(grid.trials, seed, grid.num_traces)
        yield at_least(f"{pipeline}: points held back", checks["cpu"].points, LEAST_HELD_BACK)
        yield _error(f"{pipeline}: error of CPU per span", checks["cpu"])
        yield _error(f"{pipeline}: error of memory", checks["memory"])
    if all(grid.num_traces is None for grid in grids.values()):
        yield Row("memory of a pipeline that holds traces", MISSING, BOUND, "FAIL")


def _error(name: str, check: Check) -> Row:
    median, worst = 100 * check.median, 100 * check.worst
    value = f"median {median:.1f} %, worst {worst:.1f} %"
    return judged(name, value, BOUND, median <= MOST_MEDIAN_PERCENT)
