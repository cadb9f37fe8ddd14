"""A Collector that ends under load: the first error of a ramp, and the end of any other trial."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lab.analysis.checks import judge
from lab.analysis.metrics import values
from lab.load.traces import counted
from lab.record import TrialData
from lab.record.counters import SampledFields
from lab.record.results import Results, write_results
from lab.record.trial import ContainerRecord, HeadPart, StartPart, TrialRecord, Window, WindowPart
from lab.target import delays
from tests.labs import LAB
from tests.observed import SECOND_NS, START_NS, counters
from tests.unit.test_collector_target import scraped
from tests.unit.test_traces import GENERATOR_HEADER, HEADER, IDS, ZEROS, row

ROLES = {"edge-1": "collector", "collector": "collector", "traces": "generator", "observer": "observer"}
WINDOW_S = (2, 20)
# The observer reads each container once a second, the last time in second 9.
SEEN_S, GONE_S = 9, 10
RAMP = {"coupled": {"workers": 100, "workers_per_s": 5}, "duration_s": 23}
CONSTANT = {"coupled": {"workers": 100, "workers_per_s": 0}, "duration_s": 23}
PASSED_ON = {"accepted_spans": 600, "refused_spans": 0, "dropped_spans": 0}
SUCCESSES = [row(IDS[0], "success", second / 10) for second in range(90)]
REJECTED = [row(IDS[1], "send error", 9.4 + second, 100, None) for second in range(10)]

Judged = Callable[..., TrialData]


def observed(gone: Mapping[str, int], busy: float = 0.1) -> str:
    """Return the observer's record of containers of which some end: by name, the second in which they were gone."""
    lines = [json.loads(line) for line in counters({**dict.fromkeys(ROLES, 0.1), "traces": busy}).splitlines()]
    ends_ns = {name: START_NS + second * SECOND_NS for name, second in gone.items()}
    left = [line for line in lines if line["t_ns"] < ends_ns.get(line.get("name", ""), line["t_ns"] + 1)]
    left += [{"kind": "event", "t_ns": t_ns, "name": name, "event": "gone"} for name, t_ns in ends_ns.items()]
    return "".join(json.dumps(line) + "\n" for line in left)


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Return what judges a trial in which Collectors were gone in given seconds of the load."""

    def made(
        gone: Mapping[str, int],
        load: Mapping[str, Any] = RAMP,
        rows: Sequence[str] = (*SUCCESSES, *REJECTED),
        busy: float = 0.1,
    ) -> TrialData:
        workers = [
            {"workers": 5 * second, "connections_opened": 5 * second, "t_ns": START_NS + second * SECOND_NS}
            for second in range(24)
        ]
        outcomes = {"success": len(SUCCESSES), "send_error": len(rows) - len(SUCCESSES), "traces_sent": len(rows)}
        readings = [{**dict.fromkeys(ZEROS, 0), **line} for line in workers]
        readings[-1] |= {**outcomes, "spans_sent": 600, "received_spans": 500}
        lines = [GENERATOR_HEADER, *readings]
        (tmp_path / "counters.jsonl").write_text(observed(gone, busy))
        (tmp_path / "collector.jsonl").write_text(scraped(PASSED_ON))
        (tmp_path / "traces-0.csv").write_text("".join(HEADER) + "".join(rows))
        (tmp_path / "generator-0.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        write_results(tmp_path, "generator", Results(values=counted(SampledFields(readings), load["duration_s"], load)))
        containers = {
            name: ContainerRecord(
                role=role, image="x", restarts=0, oom_killed=name in gone, exit_code=137 if name in gone else 0
            )
            for name, role in ROLES.items()
        }
        settings = {"keeps": "all", "sampling_percent": 25}
        start_ns, end_ns = (START_NS + second * SECOND_NS for second in WINDOW_S)
        record = TrialRecord.of(
            HeadPart(number=1, attempt=1, block=0, position=0, level="x", settings=settings),
            WindowPart(window=Window(load_start_ns=START_NS, start_ns=start_ns, end_ns=end_ns)),
            StartPart(containers=containers, generator_cpus=(0,)),
        )
        return judge(tmp_path, record, LAB.targets["collector"].judgement)

    return made


@pytest.mark.parametrize("gone", [{"collector": GONE_S}, {"edge-1": GONE_S, "collector": GONE_S + 3}])
def test_under_a_ramp_it_is_the_first_error(judged: Judged, gone: Mapping[str, int]) -> None:
    data = judged(gone)
    assert data.trial.reasons == []
    assert data.trial.containers["collector"].oom_killed
    found = delays.reached(data)
    # The first trace that failed was logged 0.5 s after the Collector was last seen.
    assert (found.outcome, found.at_s, found.workers) == (delays.ENDED, pytest.approx(9.5), 45)
    # From 0 s to 9.5 s: 90 traces that succeeded, and the one that failed.
    assert found.traces_per_s == pytest.approx(91 / 9.5)
    assert delays.bound(data) is None
    assert values(data, LAB.targets["collector"].judgement.metrics)["first_error_workers"] == 45


def test_its_last_reading_may_be_later_than_its_end(judged: Judged) -> None:
    rejected = [row(IDS[1], "send error", SEEN_S - 0.5 + second, 100, None) for second in range(10)]
    found = delays.reached(judged({"collector": GONE_S}, rows=[*SUCCESSES, *rejected]))
    assert (found.outcome, found.at_s) == (delays.ENDED, pytest.approx(SEEN_S - 0.4))


def test_without_a_failed_trace_the_error_is_when_it_was_gone(judged: Judged) -> None:
    found = delays.reached(judged({"collector": GONE_S}, rows=SUCCESSES))
    assert (found.outcome, found.at_s) == (delays.ENDED, GONE_S)


def test_a_trace_that_failed_while_it_ran_is_the_first_error(judged: Judged) -> None:
    early = row(IDS[2], "send timeout", 5, 500, None)
    found = delays.reached(judged({"collector": GONE_S}, rows=[*SUCCESSES, early, *REJECTED]))
    assert (found.outcome, found.at_s) == ("send timeout", pytest.approx(5.5))


@pytest.mark.parametrize(
    ("gone", "load"),
    [
        # Another load, an end before the window, an end after it.
        ({"collector": GONE_S}, CONSTANT),
        ({"collector": WINDOW_S[0]}, RAMP),
        ({"collector": WINDOW_S[1] + 1}, RAMP),
        # The generator is not what the ramp is about.
        ({"traces": GONE_S}, RAMP),
    ],
)
def test_any_other_end_rejects_the_trial(judged: Judged, gone: Mapping[str, int], load: Mapping[str, Any]) -> None:
    assert any("ran out of memory and was killed" in reason for reason in judged(gone, load).trial.reasons)


def test_what_happened_while_it_ran_still_counts(judged: Judged) -> None:
    assert "generator traces used 95 %" in "; ".join(judged({"collector": GONE_S}, busy=0.95).trial.reasons)
