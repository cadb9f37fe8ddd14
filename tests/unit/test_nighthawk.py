"""Nighthawk's flags and JSON. The sample is made from the definition of its messages: no Nighthawk has run here."""

import re
from pathlib import Path

import pytest

from lab.load.nighthawk import COMMON, PUBLISHED, command, read

SAMPLE = (Path(__file__).parents[1] / "fixtures" / "nighthawk" / "output.json").read_text()
SOURCES = (Path(__file__).parents[2] / "docs" / "reference" / "sources.md").read_text()


def test_the_command_of_a_published_run() -> None:
    assert " ".join(command("overhead", "http://proxy:8080/")) == (
        "nighthawk_client --concurrency 12 --connections 4 --duration 60 --output-format json "
        "--open-loop --rps 100 http://proxy:8080/"
    )
    # Only the first table is of an open loop.
    assert [run for run, flags in PUBLISHED.items() if "--open-loop" in flags] == ["overhead"]


def test_the_flags_are_documented() -> None:
    assert f"`{' '.join(COMMON)}`" in SOURCES
    rows = dict(re.findall(r"^\| `([a-z-]+)` \(table \d\) \| `([^`]+)` \|$", SOURCES, re.MULTILINE))
    assert rows == {run: " ".join(flags) for run, flags in PUBLISHED.items()}


def test_what_all_workers_measured() -> None:
    found = read(SAMPLE)
    assert found.requests == 71_988
    assert found.requests_per_s == pytest.approx(1200)
    assert (found.mean_ms, found.sd_ms) == pytest.approx((0.45, 0.44))


@pytest.mark.parametrize(("percent", "latency_ms"), [(0, 0.21), (50, 0.4), (90, 0.47), (99, 1.38), (99.9, 9.0)])
def test_a_percentile_is_the_first_step_that_reaches_it(percent: float, latency_ms: float) -> None:
    assert read(SAMPLE).percentile_ms(percent) == pytest.approx(latency_ms)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", SAMPLE.replace("global", "local"), SAMPLE.replace("execution_duration", "duration")],
)
def test_other_json_is_named(text: str) -> None:
    with pytest.raises(ValueError):
        read(text)
