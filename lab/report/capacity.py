"""The capacity model as tables: what was fitted, and what a load needs."""

from collections.abc import Iterator

from lab.analysis.collector.capacity import MOST_BUSY, CapacityModel, Load, Size
from lab.analysis.collector.fit import Fit, Predicted
from lab.report.numbers import interval, number
from lab.report.tables import Cell, Column, Table

FIT_NOTES = (
    "CPU is in µs per span, memory in MiB: of 1,000 traces or spans held, of 10^6 attributes held, of 1 MiB held or "
    "per second, of a heap that is full. ± is the standard error. error: the standard deviation of a trial's relative "
    "error.",
)
SIZE_NOTES = (
    "( ) are 95 % intervals for one Collector, and for all if they err alike. Each has 100 connections, on which "
    "memory depends.",
)


def fit_table(model: CapacityModel) -> Table:
    """Return the terms of each pipeline with their coefficients."""
    columns = (
        Column("Pipeline", "words", firm=True),
        Column("Cost", "words", firm=True),
        Column("Term", "words", firm=True),
        Column("Coefficient", "interval"),
        Column("Error", "words"),
        Column("Trials"),
    )
    rows = [
        row
        for name, pipeline in model.pipelines.items()
        for cost, fitted in (("CPU", pipeline.cpu_us_per_span), ("memory", pipeline.memory_mib))
        for row in _rows(name, cost, fitted)
    ]
    return Table("The capacity model", columns, rows, FIT_NOTES)


def _rows(pipeline: str, cost: str, fitted: Fit) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each term; the first also says what is true of all."""
    error, trials = f"{100 * fitted.residual_sd:.1f} %", str(fitted.freedom + len(fitted.terms))
    for place, (term, value) in enumerate(zip(fitted.terms, fitted.coefficients, strict=True)):
        spread = f"± {number(fitted.covariance[place][place] ** 0.5, 2)}"
        words = (pipeline, cost, term) if place == 0 else ("", "", term)
        all_terms = (error, trials) if place == 0 else ("", "")
        yield (*map(Cell, words), Cell(number(value), spread), *map(Cell, all_terms))


def size_table(found: Size, load: Load, pipeline: str) -> Table:
    """Return what each Collector needs, and all of them together."""
    one = found.collectors == 1
    columns = (
        Column("", "words", "needs", firm=True),
        Column("the Collector" if one else f"each of {found.collectors} Collectors", "interval"),
        *(() if one else (Column("all", "interval"),)),
    )
    rows = [
        (Cell(name), *(_cell(need.times(factor)) for factor in ((1,) if one else (1, found.collectors))))
        for name, need in (("CPU, cores", found.cores), ("memory, MiB", found.memory_mib))
    ]
    return Table(f"{pipeline}: {_words(load)}", columns, rows, SIZE_NOTES)


def remarks(found: Size, model: CapacityModel, pipeline: str) -> Iterator[str]:
    """Yield what is to be known of the numbers: where they are from, and what they cannot say."""
    fitted = model.pipelines[pipeline]
    yield (
        f"Collectors: {found.collectors}, each with one CPU that is at most {100 * MOST_BUSY:.0f} % busy. "
        f"Measured on: {model.machine['cpu_model']}, {model.machine['cores']} cores."
    )
    for name in found.extrapolated:
        bounds = fitted.bounds[name]
        yield f"extrapolated: {name} of a Collector is outside the grid ({bounds.low:.4g} to {bounds.high:.4g})"
    if found.decides_early:
        yield (
            f"decides early: more traces arrive in the decision wait than num_traces, {fitted.num_traces}: raise it, "
            "and measure again"
        )


def _words(load: Load) -> str:
    wait = f", decision wait {load.decision_wait_s:g} s" if load.decision_wait_s else ""
    return (
        f"{load.spans_per_s:,.0f} spans/s of {load.span_bytes:g} bytes and {load.attributes:g} attributes, "
        f"{load.spans_per_trace:g} per trace{wait}"
    )


def _cell(need: Predicted) -> Cell:
    return Cell(number(need.value), interval(need.low, need.high, number))
