"""Numbers as the report shows them."""

import pytest

from lab.report import numbers
from lab.report.numbers import DASH, MINUS


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (61.04, "61.0"), (1295.4, "1,295"), (0.0123456, "0.0123"), (-4.2, f"{MINUS}4.20"), (None, DASH)],
)
def test_number(value: float | None, shown: str) -> None:
    assert numbers.number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(1.42, "+42 %"), (0.964, f"{MINUS}3.6 %"), (1.0001, "0.0 %"), (0.9999, "0.0 %")]
)
def test_change_has_its_sign_where_it_is_not_zero(value: float, shown: str) -> None:
    assert numbers.change(value) == shown


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.98, 1.0, "0.98 to 1.00"),
        (1.0, 1.07, "1.00 to 1.07"),
        (1.00034, 1.072, "1.00034 to 1.072"),
        (0.99959, 0.99996, "0.99959 to 0.99996"),
        (1.02, 1.07, "1.02 to 1.07"),
        (None, 1.07, ""),
    ],
)
def test_an_interval_that_excludes_1_does_not_end_there(low: float | None, high: float, shown: str) -> None:
    assert numbers.ratio_interval(low, high) == shown


@pytest.mark.parametrize(("value", "shown"), [(0.053, "5.3 %"), (0.12, "12 %"), (0.0002, "below 0.1 %"), (None, DASH)])
def test_percent(value: float | None, shown: str) -> None:
    assert numbers.percent(value) == shown


def test_a_scale_is_shared_by_all_values_of_a_metric() -> None:
    scale = numbers.scale_for("B", [9_000, 46_000, 0])
    assert [scale.show(value) for value in (0, 9_000, 46_000)] == ["0.00", "9.00", "46.00"]
    assert scale.unit == "kB"


def test_only_bytes_change_their_unit() -> None:
    scale = numbers.scale_for("ms", [98.6, 12_345.0])
    assert (scale.unit, scale.show(12_345.0)) == ("ms", "12,345.0")


@pytest.mark.parametrize(("floor", "shown"), [(None, numbers.DASH), (0.123, "12 %"), (1.0, "100 %"), (1.01, ">100 %")])
def test_a_noise_floor_says_no_more_than_it_knows(floor: float | None, shown: str) -> None:
    assert numbers.noise(floor) == shown


def test_a_fraction_is_shown_in_percent() -> None:
    scale = numbers.scale_for("fraction", [0.012, 0.3])
    assert (scale.unit, scale.show(0.012), numbers.signed(0.3, scale)) == ("%", "1.20", "+30.00")


@pytest.mark.parametrize(
    ("seconds", "shown"), [(4.2, "4.2 s"), (59.7, "1 min 00 s"), (425, "7 min 05 s"), (7380, "2 h 03 min")]
)
def test_duration(seconds: float, shown: str) -> None:
    assert numbers.duration(seconds) == shown


def test_a_name_is_shortened_only_where_it_must_be() -> None:
    assert numbers.short("otel-agent", 10) == "otel-agent"
    assert numbers.short("otel-agent/sidecar", 10) == "otel-agen…"
