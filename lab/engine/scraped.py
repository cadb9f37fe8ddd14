"""Waits for the scraper of Collectors (observer/scraper), which reads beside what is measured."""

from collections.abc import Mapping
from pathlib import Path

from lab.engine.clock import Clock, wait_until
from lab.engine.driver import Driver
from lab.record import Fields
from lab.record.traces import newest_scrape_ns, read_collectors

# The scraper reads once a second, and waits 2 s for an answer.
BOUND_S = 5.0
LOOK_EVERY_S = 0.1


def await_scraped(record: Path, after_ns: int, clock: Clock) -> None:
    """Waits until Collectors' counters were read after a time, by the scraper's record; not for longer than a bound.

    A Collector that has crashed keeps its last reading.
    """
    wait_until(lambda: newest_scrape_ns(record) > after_ns, BOUND_S, LOOK_EVERY_S, clock)


def read_scraped(record: Path, driver: Driver, clock: Clock) -> Mapping[str, Fields]:
    """Returns what Collectors counted until now; nothing where none is scraped. The scraper lags by up to a second."""
    if not record.exists():
        return {}
    await_scraped(record, driver.time_ns(), clock)
    return read_collectors(record)
