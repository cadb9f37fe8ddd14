"""Lines and times as a person reads them."""

import io

import pytest
from rich.console import Console

from lab.run.plan import Trial
from lab.run.progress import Progress, minutes


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (89, "89 s"), (90, "2 min"), (3540, "59 min"), (3600, "1 h 00 min"), (5460, "1 h 31 min")],
)
def test_minutes(seconds: float, text: str) -> None:
    assert minutes(seconds) == text


def test_without_a_terminal_there_are_lines_with_the_time_left_and_no_escape_codes() -> None:
    out = io.StringIO()
    with Progress(Console(file=out, width=200)).trials(total=4, done=1) as report:
        report(Trial(2, 0, 1, "otel-agent", 1), [], 40.0, True)
        report(Trial(3, 0, 2, "[bold]", 1), ["the host stole 9 %"], 20.0, False)
    lines = out.getvalue().splitlines()
    assert lines[0] == "1 of 4 trials were run before"
    assert lines[1].startswith("[  2/4] block 1  otel-agent")
    assert lines[1].endswith("40 s, about 80 s left")
    assert "[bold]" in lines[2]
    assert "rejected" in lines[2]
    assert lines[3].strip() == "because the host stole 9 %"
    assert "\x1b" not in out.getvalue()


def test_a_budget_bounds_the_time_left() -> None:
    out, left_s = io.StringIO(), [100.0]
    with Progress(Console(file=out, width=200)).trials(total=4, done=0, bound_s=lambda: left_s[0]) as report:
        report(Trial(1, 0, 0, "baseline", 1), [], 40.0, True)
        left_s[0] = 60.0
        report(Trial(2, 0, 1, "otel-agent", 1), [], 20.0, True)
    shown = [line.rsplit(", ", 1)[1] for line in out.getvalue().splitlines()]
    assert shown == ["at most 2 min left", "about 60 s left"]
