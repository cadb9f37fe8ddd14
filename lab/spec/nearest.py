"""Find the right name that a wrong one was probably meant to be."""

import difflib
from collections.abc import Iterable

_MAX_LISTED = 20


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name most like `name`, or None if none is similar."""
    matches = difflib.get_close_matches(name, sorted(names), n=1, cutoff=0.5)
    return matches[0] if matches else None


def suggestion(name: str, names: Iterable[str]) -> str:
    """Return what `name` could have been: the nearest right name, and the first names of all."""
    known = sorted(names)
    meant = nearest(name, known)
    more = ", ..." if len(known) > _MAX_LISTED else ""
    listed = f"there are: {', '.join(known[:_MAX_LISTED])}{more}" if known else "there is none"
    return f"did you mean '{meant}'? ({listed})" if meant else listed
