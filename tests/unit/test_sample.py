"""A sample of a run says what the run says, and is small."""

import gzip
import re
from pathlib import Path

import numpy as np
import pytest

from lab.command.notebook import KEPT, open_run
from lab.command.sample import MOST_SAMPLES, write_sample
from lab.errors import UserError
from lab.record.data import read_trial
from lab.record.files import read_json
from lab.record.summary import read_summary
from lab.record.trial import read_trial_record
from tests import report_runs

PRIVATE_PATH = re.compile(rb"/(home|Users|tmp|root|work)/")

# What comes from the summary, the manifest and the verdicts; the other figures show the records that a sample lacks.
OF_ALL_TRIALS = ("answer", "table", "intervals", "bytes", "trace", "rejected", "manifest", "reading", "again")


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a run and its sample."""
    root = tmp_path_factory.mktemp("sampled")
    run, sample = report_runs.quick(root / "run"), root / "sample"
    write_sample(run, sample)
    return run, sample


def test_a_sample_says_what_its_run_says(sampled: tuple[Path, Path]) -> None:
    whole, sample = (open_run(folder).sections for folder in sampled)
    assert list(sample) == list(whole)
    assert [name for name in OF_ALL_TRIALS if sample[name] != whole[name]] == []


def test_a_sample_has_the_raw_records_of_one_trial_per_level(sampled: tuple[Path, Path]) -> None:
    run, sample = sampled
    trials = [read_trial_record(path.parent) for path in sample.glob("trials/*/trial.json")]
    assert sorted(trial.level for trial in trials if trial.valid) == sorted(read_summary(run / "summary.json").levels)
    assert sum(not trial.valid for trial in trials) == 1
    assert all(read_trial(path.parent) for path in sample.glob("trials/*/counters.jsonl.gz"))


def size_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_a_sample_is_small(sampled: tuple[Path, Path]) -> None:
    run, sample = sampled
    assert size_bytes(sample) < size_bytes(run) / 3


def test_thinned_counters_keep_their_course(sampled: tuple[Path, Path]) -> None:
    run, sample = sampled
    for path in sample.glob("trials/*/counters.jsonl.gz"):
        whole, thin = read_trial(run / "trials" / path.parent.name), read_trial(path.parent)
        assert set(thin.counters.containers) == {*thin.trial.names("service"), *thin.trial.names("backend")}
        for name, fields in thin.counters.containers.items():
            cpu, all_cpu = fields["cpu_usage_ns"], whole.counters.containers[name]["cpu_usage_ns"]
            assert set(zip(cpu.t_ns, cpu.values, strict=True)) <= set(zip(all_cpu.t_ns, all_cpu.values, strict=True))
            assert cpu.t_ns[0] <= thin.trial.load_start_ns < thin.trial.window_end_ns <= cpu.t_ns[-1]
            step_ns = (thin.trial.window_end_ns - thin.trial.load_start_ns) / MOST_SAMPLES
            assert len(cpu.t_ns) <= MOST_SAMPLES + 5 and np.diff(cpu.t_ns).max() <= 2 * step_ns


def test_a_sample_never_overwrites(sampled: tuple[Path, Path]) -> None:
    run, sample = sampled
    with pytest.raises(UserError, match="is there already"):
        write_sample(run, sample)


def test_the_same_run_gives_the_same_sample(sampled: tuple[Path, Path], tmp_path: Path) -> None:
    run, sample = sampled
    write_sample(run, tmp_path / "again")
    for path in filter(Path.is_file, sample.rglob("*")):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(sample)).read_bytes()


def test_a_compressed_summary_says_what_the_plain_one_says(sampled: tuple[Path, Path]) -> None:
    plain, compressed = (read_json(folder / "summary.json", "tollbooth.summary", 2) for folder in sampled)
    assert compressed == plain


def test_a_compressed_record_that_was_cut_is_named(sampled: tuple[Path, Path], tmp_path: Path) -> None:
    whole = (sampled[1] / "summary.json.gz").read_bytes()
    (tmp_path / "summary.json.gz").write_bytes(whole[:-20])
    with pytest.raises(UserError, match=r"summary\.json cannot be read"):
        read_summary(tmp_path / "summary.json")


@pytest.mark.parametrize("kept", [path for path in KEPT.iterdir() if path.is_dir()], ids=lambda path: path.name)
def test_a_kept_result_is_small_and_names_no_private_path(kept: Path) -> None:
    files = [path for path in kept.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 500_000
    assert [path.name for path in files if PRIVATE_PATH.search(content(path))] == []


def content(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
