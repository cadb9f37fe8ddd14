"""What the code at f411f24 planned, deployed, judged and computed is what the code does now (tests/golden)."""

import copy
import subprocess
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.golden import records
from tests.golden.adapter import ROOT
from tests.golden.allowed import ALLOWED, Added, Removed, RenamedKey, RenamedText, compared, expected
from tests.golden.compare import differences

RECORDS = tuple(records.CURRENT)
GOLDEN = cache(records.recorded)
CHANGES = cache(lambda record: records.changes(record, GOLDEN(record)))
SHOWN = 40


@pytest.mark.parametrize("record", RECORDS)
def test_nothing_changed(record: str) -> None:
    found, _ = CHANGES(record)
    shown = "\n".join(found[:SHOWN])
    assert not found, f"{len(found)} differences:\n{shown}"


def test_every_allowance_is_used() -> None:
    used = {row for record in RECORDS for row in CHANGES(record)[1]}
    assert set(ALLOWED) == used


def test_every_allowance_has_a_reason() -> None:
    assert all(len(row.reason) > len("because") for row in ALLOWED)


# --- the test of the test ---------------------------------------------------------------------------------------------
Place = tuple[str | int, ...]


def _place(data: Any, found: Callable[[Place, Any], bool], above: Place = ()) -> Place | None:
    """Return the place of the first value that `found` accepts."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        below = (*above, key)
        if found(below, value) or (below := _place(value, found, below) or ()):
            return below
    return None


def _changed(data: Any, place: Place, change: Callable[[Any], Any]) -> Any:
    """Return a copy of `data` with the value at a place changed."""
    result = copy.copy(data)
    first, *rest = place
    result[first] = _changed(data[first], tuple(rest), change) if rest else change(data[first])
    return result


@pytest.mark.parametrize(
    ("record", "found", "change"),
    [
        pytest.param("trials", lambda place, _: "values" in place[:-1], lambda x: x * (1 + 1e-8), id="a metric"),
        pytest.param("trials", lambda place, _: "reasons" in place[:-1], lambda x: f"{x}.", id="a check's reason"),
        pytest.param("trials", lambda place, _: place[-1] == "reasons", lambda _: ["late"], id="a check more"),
        pytest.param("trials", lambda place, value: place[-1] == "reasons" and value, lambda _: [], id="a check less"),
        pytest.param("plans", lambda place, _: place[-1] == "seed", lambda x: x + 1, id="a seed"),
        pytest.param("plans", lambda place, _: place[-1] == "trials", lambda x: x[::-1], id="an order"),
        pytest.param("compose", lambda place, _: place[-1] == "cpuset", lambda _: "0", id="a Compose field"),
        pytest.param("compose", lambda place, _: place[-2:-1] == ("environment",), lambda _: "x", id="a variable"),
        pytest.param("compose", lambda place, _: place[-2:-1] == ("files",), lambda x: x + " ", id="a generated file"),
        pytest.param("summaries", lambda place, _: place[-1] == "mean_low", lambda x: x * (1 - 1e-8), id="an interval"),
        pytest.param("summaries", lambda place, _: place[-1] == "refused", lambda x: x + 1, id="a count"),
        pytest.param("claims", lambda place, _: place[-1] == "verdict", lambda _: "perhaps", id="a verdict"),
        pytest.param("claims", lambda place, _: place[-1] == "noise_floor", lambda _: None, id="a floor"),
    ],
)
def test_a_change_is_noticed(record: str, found: Callable[[Place, Any], bool], change: Callable[[Any], Any]) -> None:
    golden = GOLDEN(record)
    place = _place(golden, found)
    assert place is not None
    before, _ = CHANGES(record)
    after, _ = records.changes(record, _changed(golden, place, change))
    assert len(after) > len(before)


@pytest.mark.parametrize(
    ("golden", "current", "same"),
    [
        (1.0, 1.0 + 1e-10, True),
        (1.0, 1.0 + 1e-8, False),
        (0.0, 1e-300, False),
        (1, 1.0, False),
        (1, True, False),
        (None, 0, False),
        ("a", "a", True),
        ([1, 2], [1, 2, 3], False),
        ([1, 2], [2, 1], False),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
    ],
)
def test_what_is_equal(golden: Any, current: Any, same: bool) -> None:
    assert (list(differences(golden, current, "x")) == []) == same


def test_what_is_allowed_is_applied_where_it_is_allowed() -> None:
    golden = {
        "a": {"refused": 1, "finding": "cannot tell"},
        "b": {"refused": 1, "gone": {"x": [1]}},
        "c": ["cannot tell"],
    }
    current = {"a": {"rejected": 1, "finding": "inconclusive"}, "b": {"refused": 1, "new": 5}, "c": ["cannot tell"]}
    rows = (
        RenamedKey("r/a", "refused", "rejected", "plain words"),
        RenamedText("r/*/finding", "^cannot tell$", "inconclusive", "plain words"),
        Removed("r/b/gone", "nobody read it"),
        Added("r/b/new", "somebody reads it"),
    )
    wanted, renamed = expected("r", golden, rows)
    found, added = compared("r", current, rows)
    assert list(differences(wanted, found, "r")) == []
    assert renamed | added == set(rows)
    assert expected("elsewhere", golden, rows) == (golden, set())


# --- the golden files themselves --------------------------------------------------------------------------------------
def test_the_golden_files_are_those_that_were_recorded() -> None:
    assert records.sums() == records.SUMS.read_text()


def test_no_commit_changes_golden_files_and_the_lab() -> None:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"there is no git history here, so that nobody knows: {done.stderr.strip()}"
        return done.stdout.strip()

    assert git("rev-parse", "--is-shallow-repository") == "false", "the git history here is cut off: clone all of it"
    place = records.FOLDER.relative_to(ROOT).as_posix()
    log = git("log", "--full-history", "--no-merges", "--full-diff", "--name-only", "--format=commit %H", "--", place)
    commits = [commit.splitlines() for commit in f"\n{log}".split("\ncommit ")[1:]]
    assert commits, f"the git history here has no commit of {place}"
    both = [commit for commit, *paths in commits if any(path.startswith("lab/") for path in paths)]
    assert not both, f"these commits change {place} and lab/: {both}"


def test_every_kind_of_record_is_in_some_run() -> None:
    wanted = {
        "requests.csv", "counters.jsonl", "speed.jsonl", "trace.json", "faults.jsonl", "targets.json",
        "trial.json", "manifest.json", "summary.json", "claims.json", "envoy", "ready", "calibration",
    }  # fmt: skip
    found: set[str] = set()
    for name in records.REAL:
        with records.unpacked(name) as folder:
            found |= {path.name for path in folder.rglob("*")}
    assert wanted <= found
