"""A kept run is small, says what the run says, and gives the same numbers when it is analysed again."""

import errno
import json
import lzma
import re
import shutil
from pathlib import Path
from unittest.mock import Mock

import pytest

from lab.analysis.metrics.jvm import allocated
from lab.command import keep as keeping
from lab.command.keep import Times, different, keep, rounded, thinned
from lab.command.notebook import KEPT, open_run
from lab.errors import UserError
from lab.record.counters import parse_counters
from lab.record.data import read_trial
from lab.record.files import read_json, read_text, write_packed
from lab.record.summary import read_summary
from lab.record.trial import read_trial_record, trial_folders
from lab.report.build import report
from lab.report.source import read
from tests import report_runs
from tests.command_line import one_line
from tests.forked import lab
from tests.golden import records
from tests.labs import LAB, analyse
from tests.repository import ROOT, tracked

PRIVATE_PATH = re.compile(rb"/(home|Users|tmp|root|work)/")
MOST_TRACKED_BYTES = 10_000_000

# What comes from the summary, the manifest, the verdicts and complete records; the other figures show thinned ones.
COMPLETE = ("answer", "table", "intervals", "bytes", "trace", "rejected", "manifest", "reading", "again")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a run, and what is kept of it."""
    root = tmp_path_factory.mktemp("both")
    run, kept = report_runs.quick(root / "run"), root / "kept"
    keep(run, kept, LAB)
    return run, kept


def has_all_records(kept: Path) -> bool:
    """Whether a kept result has the raw records of all valid trials, not only of one per level, or none."""
    valid = {trial.trial for trial in read_summary(kept / "summary.json").trials if trial.valid}
    return valid <= {path.name for path in trial_folders(kept)}


def assert_same_numbers(kept: Path, copy: Path) -> None:
    """Analyse a copy of a kept run, and compare every number with its summary."""
    shutil.copytree(kept, copy)
    (copy / "summary.json.xz").unlink()
    analyse(copy)
    summaries = (read_json(folder / "summary.json", "tollbooth.summary", 2) for folder in (kept, copy))
    assert list(different(*summaries)) == []


def test_a_kept_run_gives_the_same_numbers_again(both: tuple[Path, Path], tmp_path: Path) -> None:
    _, kept = both
    assert has_all_records(kept)
    assert len(read_summary(kept / "summary.json").estimates) > 100
    assert_same_numbers(kept, tmp_path / "copy")


@pytest.mark.parametrize(
    "kept", [path for path in sorted(KEPT.glob("*/")) if has_all_records(path)], ids=lambda path: path.name
)
def test_every_kept_result_gives_the_same_numbers_again(kept: Path, tmp_path: Path) -> None:
    assert_same_numbers(kept, tmp_path / "copy")


@pytest.mark.parametrize("name", ["in-turn", "at-once", "sidecars"])
def test_real_runs_with_a_spinner_side_by_side_and_with_faults_can_be_kept(name: str, tmp_path: Path) -> None:
    with records.unpacked(name) as run:
        analyse(run)
        keep(run, tmp_path / "kept", LAB)
        assert size_bytes(tmp_path / "kept") < size_bytes(run) / 10
    assert_same_numbers(tmp_path / "kept", tmp_path / "copy")


def test_a_number_that_differs_is_found() -> None:
    one = {"a": [1.0, {"b": 2.0}], "c": None}
    assert list(different(one, {"a": [1.0, {"b": 2.0 * (1 + 1e-10)}], "c": None})) == []
    assert list(different(one, {"a": [1.0, {"b": 2.0 * (1 + 1e-8)}], "c": None})) == ["a[1].b"]
    assert list(different(one, {"a": [1.0], "c": 1.0})) == ["a", "c"]


def test_a_run_whose_numbers_differ_is_not_kept(both: tuple[Path, Path], tmp_path: Path) -> None:
    changed = tmp_path / "run"
    shutil.copytree(both[0], changed)
    summary = json.loads((changed / "summary.json").read_text())
    summary["estimates"][3]["mean"] *= 1.001
    (changed / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(UserError, match=r"another estimates\[3\]\.mean") as rejected:
        keep(changed, tmp_path / "kept", LAB)
    assert rejected.value.hint.startswith("analyse it with this lab first: lab analyse ")
    assert not (tmp_path / "kept").exists()


def test_a_kept_run_says_what_its_run_says(both: tuple[Path, Path]) -> None:
    of_run, of_kept = (open_run(folder).sections for folder in both)
    assert list(of_kept) == list(of_run)
    assert [name for name in COMPLETE if of_kept[name] != of_run[name]] == []


def test_rejected_trials_keep_their_reasons_and_no_raw_records(both: tuple[Path, Path]) -> None:
    run, kept = both
    trials = {path.name: read_trial_record(path) for path in trial_folders(kept)}
    assert set(trials) == {path.name for path in trial_folders(run)}
    (rejected,) = [name for name, trial in trials.items() if not trial.valid]
    assert trials[rejected].reasons and not trials[rejected].streams
    assert [path.name for path in (kept / "trials" / rejected).iterdir()] == ["trial.json.xz"]


def size_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_a_kept_run_is_small(both: tuple[Path, Path]) -> None:
    run, kept = both
    (run / "report.html").unlink(missing_ok=True)
    assert size_bytes(kept) < size_bytes(run) / 4


def test_kept_counters_are_samples_of_the_run_on_both_sides_of_the_window(both: tuple[Path, Path]) -> None:
    run, kept = both
    for path in kept.glob("trials/*/counters.jsonl.xz"):
        complete, thin = read_trial(run / "trials" / path.parent.name), read_trial(path.parent)
        assert set(thin.counters.containers) == set(complete.counters.containers)
        for name, fields in thin.counters.containers.items():
            cpu, all_cpu = fields["cpu_usage_ns"], complete.counters.containers[name]["cpu_usage_ns"]
            assert set(zip(cpu.t_ns, cpu.values, strict=True)) <= set(zip(all_cpu.t_ns, all_cpu.values, strict=True))
            assert cpu.t_ns[0] <= thin.trial.load_start_ns < thin.trial.window_end_ns <= cpu.t_ns[-1]


def container(t_ns: int, kind: str, value: int) -> str:
    return json.dumps({"kind": kind, "t_ns": t_ns, "name": "a1", f"of_{kind}": value})


def test_which_samples_stay() -> None:
    header = json.dumps({"format": "tollbooth.counters", "version": 1, "interval_ns": 10})
    counters = [container(t_ns, "container", t_ns) for t_ns in range(0, 200, 10)]
    gauges = [container(t_ns, "slow", 999 if t_ns == 40 else 5) for t_ns in range(0, 200, 10)]
    text = "\n".join([header, *(line for pair in zip(counters, gauges, strict=True) for line in pair), ""])
    kept = thinned(text, Times(edges_ns=[55, 100], complete_ns=150, end_ns=160)).splitlines()[1:]
    stays = {
        kind: [one["t_ns"] for one in map(json.loads, kept) if one["kind"] == kind] for kind in ("container", "slow")
    }
    assert stays["container"] == [0, 50, 60, 100, 190]
    assert stays["slow"] == [0, 40, 50, 60, 100, 150, 160, 170, 180, 190]
    before, after = (
        parse_counters(one, "test").containers["a1"]["of_container"].increase(55, 100)
        for one in ("\n".join([header, *counters, ""]), thinned(text, Times([55, 100], 150, 160)))
    )
    assert before == after == 45


def jvm(t_ns: int, collections: int) -> str:
    heap = {"eden_used_bytes": 0, "eden_capacity_bytes": 1200, "young_gc_count": collections, "full_gc_count": 0}
    return json.dumps({"kind": "jvm", "t_ns": t_ns, "name": "a1", **heap})


def test_what_a_jvm_allocated_is_the_same_where_its_last_collection_was_long_before_the_window() -> None:
    header = json.dumps({"format": "tollbooth.counters", "version": 1, "interval_ns": 10})
    text = "\n".join([header, *(jvm(t_ns, (t_ns >= 60) + (t_ns >= 180)) for t_ns in range(0, 200, 10)), ""])
    before, after = (
        allocated(parse_counters(one, "test").jvms["a1"]).increase(120, 180)
        for one in (text, thinned(text, Times([120, 180], complete_ns=110, end_ns=180)))
    )
    assert before == after == 600


def test_nothing_is_overwritten(both: tuple[Path, Path]) -> None:
    run, kept = both
    with pytest.raises(UserError, match="is there already"):
        keep(run, kept, LAB)


def test_the_same_run_gives_the_same_bytes(both: tuple[Path, Path], tmp_path: Path) -> None:
    run, kept = both
    keep(run, tmp_path / "again", LAB)
    for path in filter(Path.is_file, kept.rglob("*")):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(kept)).read_bytes()


def test_a_compressed_summary_says_what_the_plain_one_says(both: tuple[Path, Path]) -> None:
    plain, compressed = (read_json(folder / "summary.json", "tollbooth.summary", 2) for folder in both)
    assert list(different(plain, compressed)) == []
    assert compressed != plain
    assert rounded(plain) == compressed


@pytest.mark.parametrize("name", ["summary.json.xz", "counters.jsonl.xz"])
def test_a_compressed_record_that_was_cut_is_named(both: tuple[Path, Path], tmp_path: Path, name: str) -> None:
    complete = next(both[1].rglob(name)).read_bytes()
    (tmp_path / name).write_bytes(complete[:-20])
    plain = name.rpartition(".")[0]
    with pytest.raises(UserError, match=rf"{plain} cannot be read"):
        read_text(tmp_path / plain)


def test_a_plain_record_is_read_before_a_compressed_one(tmp_path: Path) -> None:
    write_packed(tmp_path / "x.csv", "compressed")
    assert read_text(tmp_path / "x.csv") == "compressed"
    (tmp_path / "x.csv").write_text("plain")
    assert read_text(tmp_path / "x.csv") == "plain"


def test_the_command(both: tuple[Path, Path], tmp_path: Path) -> None:
    done = lab("keep", str(both[0]), str(tmp_path / "kept"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("kept: ")
    assert "is not a results folder" in one_line(lab("keep", str(tmp_path), str(tmp_path / "other")))


def test_without_records_a_run_has_what_its_tables_need(both: tuple[Path, Path], tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    done = lab("keep", "--no-records", str(both[0]), str(kept))
    assert done.returncode == 0, done.stderr
    of_run = {"manifest.json", "claims.json", "summary.json"} & {path.name for path in both[0].iterdir()}
    assert {path.name.removesuffix(".xz") for path in kept.rglob("*")} == of_run
    assert lab("table", str(kept)).stdout == lab("table", str(both[0])).stdout
    assert "its systems did not take turns" in one_line(lab("check", "effects", str(kept)))
    assert counts(kept) == counts(both[0])


def counts(run: Path) -> list[tuple[str, str]]:
    """Return how many levels, blocks and trials a run's report says that it has."""
    source = read(run)
    return report(run, source).page.counts


@pytest.mark.parametrize("how", ["kept without records", "its trials were deleted"])
def test_a_run_without_records_is_not_analysed_and_keeps_its_summary(
    both: tuple[Path, Path], tmp_path: Path, how: str
) -> None:
    run = tmp_path / "run"
    if how == "kept without records":
        keep(both[0], run, LAB, records=False)
    else:
        shutil.copytree(both[0], run)
        shutil.rmtree(run / "trials")
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    done = lab("analyse", str(run))
    assert one_line(done) == f"error: {run} has no raw records"
    assert f"lab table {run}" in done.stderr
    assert done.returncode == 2
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before


def test_a_run_that_could_not_be_kept_can_be_kept_again(
    both: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    # What a process that was killed has left.
    (tmp_path / ".kept.part" / "trials").mkdir(parents=True)
    (tmp_path / ".kept.part" / "trials" / "broken").touch()
    with monkeypatch.context() as patch, pytest.raises(OSError, match="disk full"):
        patch.setattr(keeping, "analyse", Mock(side_effect=OSError(errno.ENOSPC, "disk full")))
        keep(both[0], kept, LAB)
    assert list(tmp_path.iterdir()) == []
    keep(both[0], kept, LAB)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]
    assert {path.relative_to(kept) for path in kept.rglob("*")} == {
        path.relative_to(both[1]) for path in both[1].rglob("*")
    }


@pytest.mark.parametrize("kept", sorted(KEPT.glob("*/")), ids=lambda path: path.name)
def test_a_kept_result_is_small_and_names_no_private_path(kept: Path) -> None:
    files = [path for path in kept.rglob("*") if path.is_file()]
    assert has_all_records(kept) or sum(path.stat().st_size for path in files) < 500_000
    assert [path.name for path in files if PRIVATE_PATH.search(content(path))] == []


def content(path: Path) -> bytes:
    return lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()


def test_all_files_of_the_repository_are_small_together() -> None:
    assert sum(path.stat().st_size for path in tracked("*")) <= MOST_TRACKED_BYTES
    assert ROOT / "README.md" in tracked("*")
