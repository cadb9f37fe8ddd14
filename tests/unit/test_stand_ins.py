"""What a kept run has in place of logs of traces: the values, the bounds and the figures that the logs gave."""

from pathlib import Path

import numpy as np
import pytest

from lab.analysis.metrics import values
from lab.analysis.metrics.bounds import bounds, in_place
from lab.cli import LAB
from lab.command.stand_ins import FILES, LOGS, without_logs, write_stand_ins
from lab.record import Stream, TrialData
from lab.record.data import STREAMS
from lab.record.trial import LOCAL
from lab.report.courses import course
from tests.unit.test_traces import IDS, _series, row, trial

METRICS = LAB.targets["collector"].judgement.metrics
LOGGED = {"trace-log": Stream(version=1, files={"0": "traces-0.csv"})}
COUNTED = {"collectors": Stream(version=1, files={LOCAL: "collector.jsonl"})}


@pytest.fixture
def logged() -> TrialData:
    data = trial([row(IDS[0], "success", at_s, 2 + at_s, 10 + at_s) for at_s in range(18)])
    counted = {"collector": {"accepted_spans": _series([5 * second for second in range(25)])}}
    return TrialData(data.trial, {**data.streams, "collectors": {LOCAL: counted}})


def kept(data: TrialData, folder: Path) -> TrialData:
    """Return the trial as it is read after it was kept."""
    write_stand_ins(folder, data, METRICS)
    read = {name: {LOCAL: STREAMS[name].read(folder / file)} for name, file in FILES.items()}
    others = {name: stream for name, stream in data.streams.items() if name not in LOGS}
    return TrialData(data.trial, {**others, **read})


def test_the_values_and_bounds_of_the_log_are_kept(logged: TrialData, tmp_path: Path) -> None:
    again = kept(logged, tmp_path)
    assert values(logged, METRICS)["receive_delay_p99_ms"] == pytest.approx(27)
    assert values(again, METRICS) == values(logged, METRICS)
    assert bounds(logged, METRICS)["first_error_traces_per_s"] == "at least"
    assert bounds(again, METRICS) == bounds(logged, METRICS)


def test_only_what_needs_the_log_is_kept(logged: TrialData, tmp_path: Path) -> None:
    again = kept(logged, tmp_path)
    rest = TrialData(again.trial, {name: one for name, one in again.streams.items() if name not in FILES})
    assert in_place(again).values.keys().isdisjoint(values(rest, METRICS))


def test_what_is_drawn_over_time_is_kept_in_few_points(logged: TrialData, tmp_path: Path) -> None:
    edges_s = np.linspace(0, 20, 61)
    before, after = course(logged, edges_s), course(kept(logged, tmp_path), np.array([0.0, 20.0]))
    assert before is not None and after is not None
    assert after.time_s == pytest.approx(before.time_s)
    assert after.workers == pytest.approx(before.workers, abs=0.05)
    for name, series in {**before.per_s, **before.delays_ms}.items():
        assert {**after.per_s, **after.delays_ms}[name] == pytest.approx(series, abs=0.05, nan_ok=True)


def test_a_trial_without_logs_stays_as_it_is(tmp_path: Path) -> None:
    assert without_logs(COUNTED) == COUNTED
    assert without_logs({**COUNTED, **LOGGED}).keys() == {*COUNTED, *FILES}
    write_stand_ins(tmp_path, TrialData(trial([]).trial, {}), METRICS)
    assert list(tmp_path.iterdir()) == []
