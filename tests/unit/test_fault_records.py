"""`faults.jsonl` is read as it was written, and anything else is rejected."""

from pathlib import Path

import pytest

from lab.errors import UserError
from lab.record.data import read_trial, streams_in
from lab.record.faults import Action, FaultLog, Injection, parse_injections, read_injections
from lab.record.files import write_json_atomic
from lab.record.trial import TrialRecord

FROZEN = {"kind": "frozen", "target": "s2", "start_s": 10.0, "length_s": 5.0}
CUT = {"kind": "cpu-cut", "target": "s3", "size": 0.25, "start_s": 1.0, "length_s": 5.0}


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "faults.jsonl"
    log = FaultLog(path, 20_000_000)
    injected, lifted = Action(1, 2, {"address": "172.18.0.3"}), Action(3, 4, {"packets": 7, "share": 0.5})
    log.done(1, FROZEN, "inject", injected)
    log.rejected(0, CUT, 2, 3, "not here")
    log.done(1, FROZEN, "lift", lifted)
    assert read_injections(path) == (
        Injection(CUT, rejected="not here", clock_error_ns=20_000_000),
        Injection(FROZEN, injected, lifted, clock_error_ns=20_000_000),
    )


def test_a_trial_without_faults_has_no_stream_and_no_injection(tmp_path: Path) -> None:
    streams = streams_in(tmp_path)
    assert "faults" not in streams
    record = TrialRecord(number=1, attempt=1, block=0, position=0, level="x", settings={}, streams=streams)
    write_json_atomic(tmp_path / "trial.json", record.json_record())
    assert read_trial(tmp_path).injections == ()


HEAD = '{"format": "tollbooth.faults", "version": 1, "clock_error_ns": 1}\n'
LINE = '{"number": 0, "action": "inject", "fault": {}, "begin_ns": 1, "end_ns": 2, "seen": {}}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x does not begin as tollbooth.faults version 1"),
        (HEAD.replace("1,", "2,", 1) + LINE, "x does not begin as tollbooth.faults version 1"),
        (LINE, "x does not begin as tollbooth.faults version 1"),
        (HEAD + LINE + LINE[:20], "x, line 3: not a record of a fault"),
        (HEAD + LINE.replace("inject", "forget"), "x, line 2: not a record of a fault"),
        (HEAD + LINE.replace('"begin_ns": 1, ', ""), "x, line 2: not a record of a fault"),
    ],
)
def test_another_text_is_rejected(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_injections(text, "x")
    assert caught.value.message == message


def test_a_fault_that_was_only_injected_has_no_end() -> None:
    (injection,) = parse_injections(HEAD + LINE, "x")
    assert injection.injected == Action(1, 2, {})
    assert injection.lifted is None
