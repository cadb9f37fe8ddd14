"""At which tested numbers a claim holds, where its publication does not state the number."""

from collections.abc import Mapping, Sequence

from lab.analysis.claims.records import Judged, Verdict
from lab.analysis.claims.swept import Swept
from lab.report.numbers import interval, number

_VERBS: Mapping[Verdict, str] = {
    "holds here": "holds",
    "inconclusive": "is inconclusive",
    "does not hold here": "does not hold",
    "not tested here": "is not tested",
}


def along(judged: Judged, said: str) -> str:
    """Return what is said of a claim with the number that it was judged at, and of each tested number."""
    swept = judged.swept
    return said if swept is None else f"{_at(swept)}: {said}. It {_holds(swept)}"


def _at(swept: Swept) -> str:
    if swept.number is None:
        return f"No tested number of {swept.what} gives the published {number(swept.published)} ({swept.metric})"
    ends = interval(swept.low, swept.high, number)
    without = f" ({swept.blocks_without} blocks do not reach this: no verdict)" if swept.blocks_without else ""
    return f"At {number(swept.number)} {f'({ends}) ' if ends else ''}{swept.what}, as published{without}"


def _holds(swept: Swept) -> str:
    """Say at which tested numbers it holds, and at which it does not: what fails at one may hold at larger ones."""
    tested = {verb: [f"{at:g}" for at, found in swept.verdicts if found == verdict] for verdict, verb in _VERBS.items()}
    return "; ".join(f"{verb} at {_listed(numbers)}" for verb, numbers in tested.items() if numbers) + f" {swept.what}"


def _listed(numbers: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(numbers[:-1]), numbers[-1])))
