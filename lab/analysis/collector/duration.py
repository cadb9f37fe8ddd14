"""Durations as a Collector's configuration writes them: `10s`, `500ms`, `1m30s`. Pure."""

import re

SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")


def seconds(text: str) -> float:
    """Return a duration in seconds; raises `ValueError` for anything else."""
    parts = PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"'{text}' is no duration such as 10s, 500ms or 1m30s")
    return sum(float(number) * SECONDS[unit] for number, unit in parts)
