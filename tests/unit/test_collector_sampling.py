"""The Collector's sampling decisions are predicted one by one: those of two real releases, without a mismatch."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from lab.analysis.collector.predicted import drawn_ids, predicted
from lab.analysis.collector.sampling import kept
from tests.forked import lab

FIXTURE = json.loads((Path(__file__).parents[2] / "fixtures" / "sampling.v1.json").read_text())
IDS = drawn_ids(FIXTURE["count"])


@pytest.mark.parametrize("row", FIXTURE["rows"], ids=lambda row: f"{row['mode']} {row['percent']} {row['hash_seed']}")
def test_no_decision_differs_from_the_collectors(row: dict[str, object]) -> None:
    found = kept(IDS, row["mode"], row["percent"], row["hash_seed"])  # type: ignore[arg-type]
    decisions = np.packbits(found).tobytes()
    assert int(found.sum()) == row["kept"]
    assert decisions[:8].hex() == row["first"]
    assert hashlib.sha256(decisions).hexdigest() == row["sha256"]


def test_all_100_000_ids_are_checked() -> None:
    assert IDS.shape == (100_000, 16)
    assert len(FIXTURE["rows"]) == 60


def test_more_digits_keep_closer_to_the_percentage() -> None:
    # At one digit, the threshold of 33.3 % is b of 16, and byte 9 holds the first digit that is compared.
    assert np.array_equal(kept(IDS, "equalizing", 33.3, precision=1), IDS[:, 9] >= 0xB0)
    assert kept(IDS, "equalizing", 33.3, precision=14).mean() == pytest.approx(0.333, abs=0.005)


def test_more_than_all_is_all() -> None:
    assert kept(IDS, "hash_seed", 250).all()


def test_the_command_counts_the_settings_without_a_mismatch() -> None:
    done = lab("check", "sampling")
    assert done.returncode == 0
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("settings of the sampler")]
    assert line.split()[-5:] == ["60", "at", "least", "60", "PASS"]


def test_a_single_mismatch_fails_the_check() -> None:
    wrong = {**FIXTURE, "rows": [{**FIXTURE["rows"][0], "sha256": "0" * 64}, *FIXTURE["rows"][1:]]}
    assert [row.verdict for row in predicted(wrong)] == ["PASS", "FAIL"]
