"""Reads what Collectors count of themselves while a trial runs, each second (observer/scraper)."""

from collections.abc import Collection
from pathlib import Path

from lab.engine import Place, wait_until
from lab.record.traces import newest_scrape_ns

SCRAPER = "scraper"
RECORD = "collector.jsonl"
METRICS_PORT = 8888
# The scraper reads once a second, and waits 2 s for an answer.
SCRAPED_BOUND_S = 5.0
LOOK_EVERY_S = 0.1


def services(collectors: Collection[str]) -> tuple[str, ...]:
    """Return the scraper's Compose service; none without a Collector."""
    return (SCRAPER,) if collectors else ()


def variables(collectors: Collection[str]) -> dict[str, str]:
    """Return the variables that name what the scraper reads; none without a Collector."""
    scraped = ",".join(f"{name}=http://{name}:{METRICS_PORT}/metrics" for name in collectors)
    return {"COLLECTORS": scraped} if scraped else {}


def await_scrape(place: Place, out: Path) -> None:
    """Wait until the Collectors' counters were read once more. One that has crashed keeps its last reading."""
    path, now_ns = out / RECORD, place.driver.time_ns()
    wait_until(lambda: newest_scrape_ns(path) > now_ns, SCRAPED_BOUND_S, LOOK_EVERY_S, place.clock)


def begin(place: Place, collectors: Collection[str]) -> None:
    """Start the scraper; does nothing without a Collector. Another start of it would begin its record anew."""
    if collectors:
        place.driver.start(services(collectors))


def end(place: Place, out: Path, collectors: Collection[str]) -> None:
    """Stop the scraper once it has read everything; does nothing without a Collector."""
    if collectors:
        await_scrape(place, out)
        place.driver.stop(services(collectors))
