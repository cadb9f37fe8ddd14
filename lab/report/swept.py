"""Up to which number a claim holds that its publication does not state."""

from itertools import takewhile

from lab.analysis.claims.records import Judged
from lab.analysis.claims.swept import Swept
from lab.report.numbers import interval, number


def along(judged: Judged, said: str) -> str:
    """Return what is said of a claim with the number that it was judged at, and the largest at which it holds."""
    swept = judged.swept
    return said if swept is None else f"{_at(swept)}: {said}. It {_holds(swept)}"


def _at(swept: Swept) -> str:
    if swept.number is None:
        return f"No tested number of {swept.what} gives the published {number(swept.published)} ({swept.metric})"
    ends = interval(swept.low, swept.high, number)
    without = f" ({swept.blocks_without} blocks do not reach this, and are left out)" if swept.blocks_without else ""
    return f"At {number(swept.number)} {f'({ends}) ' if ends else ''}{swept.what}, as published{without}"


def _holds(swept: Swept) -> str:
    """Say up to where it holds at every tested number."""
    held = [at for at, _ in takewhile(lambda one: one[1] == "holds here", swept.verdicts)]
    if not held:
        at, verdict = swept.verdicts[0]
        return f"{'does not hold' if verdict == 'does not hold here' else 'is inconclusive'} at {at:g} already"
    return f"holds up to {held[-1]:g} {swept.what}" + (
        ", the largest tested" if len(held) == len(swept.verdicts) else ""
    )
