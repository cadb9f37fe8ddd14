"""`collector.jsonl`: what Collectors count of themselves, read once a second (observer/scraper)."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.record.counters import Fields, SampledFields
from lab.record.files import complete_lines, json_lines, json_object, read_text


def read_collectors(path: Path) -> Mapping[str, Fields]:
    """Read `collector.jsonl`: for each Collector a series for each of its counters.

    A scrape that failed has `failed_scrapes` only. A gauge that the Collector does not show has no sample.
    """
    samples: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)

    def take(data: dict[str, Any]) -> None:
        data["t_ns"] + 0
        samples[data["name"]].append(data)

    json_lines(read_text(path), str(path), "tollbooth.collector", 1, "a reading of a Collector", take)
    return {name: SampledFields(of_one) for name, of_one in samples.items()}


def newest_scrape_ns(path: Path) -> int:
    """Return when a Collector was last asked, by a record that is still written; 0 before the first time."""
    lines = complete_lines(path.read_text())[0][1:] if path.exists() else []
    return int(json_object(lines[-1], str(path))["t_ns"]) if lines else 0
