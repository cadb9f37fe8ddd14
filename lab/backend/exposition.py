"""Counters in Prometheus's text format, which most backends speak about themselves."""

import re


def total(text: str, name: str) -> float:
    """The counter `name`, with or without the suffix `_total`, summed over its labels; 0 before it first counted."""
    sample = re.compile(rf"^{re.escape(name)}(?:_total)?(?:\{{[^}}]*\}})? ([0-9.eE+]+)$", re.MULTILINE)
    return sum(float(value) for value in sample.findall(text))
