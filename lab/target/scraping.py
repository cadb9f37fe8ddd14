"""Reads what Collectors count of themselves while a trial runs, each second (observer/scraper)."""

from collections.abc import Collection
from pathlib import Path

from lab.engine import Place, await_scraped

SCRAPER = "scraper"
RECORD = "collector.jsonl"
METRICS_PORT = 8888


def services(collectors: Collection[str]) -> tuple[str, ...]:
    """Return the scraper's Compose service; none without a Collector."""
    return (SCRAPER,) if collectors else ()


def variables(collectors: Collection[str]) -> dict[str, str]:
    """Return the variables that name what the scraper reads; none without a Collector."""
    scraped = ",".join(f"{name}=http://{name}:{METRICS_PORT}/metrics" for name in collectors)
    return {"COLLECTORS": scraped} if scraped else {}


def await_scrape(place: Place, out: Path) -> None:
    """Wait until the Collectors' counters were read once more. One that has crashed keeps its last reading."""
    await_scraped(out / RECORD, place.driver.time_ns(), place.clock)


def begin(place: Place, collectors: Collection[str]) -> None:
    """Start the scraper; does nothing without a Collector. Another start of it would begin its record anew."""
    if collectors:
        place.driver.start(services(collectors))


def end(place: Place, out: Path, collectors: Collection[str]) -> None:
    """Stop the scraper once it has read everything; does nothing without a Collector."""
    if collectors:
        await_scrape(place, out)
        place.driver.stop(services(collectors))
