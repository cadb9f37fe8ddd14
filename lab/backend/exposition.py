"""Counters in Prometheus's text format, which most backends publish about themselves."""

import re


def total(text: str, name: str) -> float:
    """The counter `name`, with or without the suffix `_total`, summed over its labels; 0 if it is missing."""
    sample = re.compile(rf"^{re.escape(name)}(?:_total)?(?:\{{[^}}]*\}})? ([0-9.eE+]+)$", re.MULTILINE)
    return sum(float(value) for value in sample.findall(text))
