"""What the Collector's sampler keeps is predicted for every trace, as the processor itself decided."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lab.analysis.collector.sampling import kept

FIXTURE = json.loads((Path(__file__).resolve().parents[2] / "fixtures" / "sampling.v1.json").read_text())


@pytest.fixture(scope="module")
def trace_ids() -> NDArray[np.uint8]:
    joined = b"".join(hashlib.sha256(str(n).encode()).digest()[:16] for n in range(FIXTURE["count"]))
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, 16)


def test_the_fixture_has_all_modes() -> None:
    assert {row["mode"] for row in FIXTURE["rows"]} == {"hash_seed", "proportional", "equalizing"}
    assert (FIXTURE["count"], len(FIXTURE["rows"])) == (100_000, 60)


@pytest.mark.parametrize("row", FIXTURE["rows"], ids=lambda row: f"{row['mode']}-{row['percent']}-{row['hash_seed']}")
def test_all_decisions_are_the_processors(trace_ids: NDArray[np.uint8], row: dict[str, Any]) -> None:
    found = kept(trace_ids, row["mode"], row["percent"], row["hash_seed"])
    assert int(found.sum()) == row["kept"]
    assert hashlib.sha256(np.packbits(found).tobytes()).hexdigest() == row["sha256"]


def test_above_100_percent_is_all(trace_ids: NDArray[np.uint8]) -> None:
    assert kept(trace_ids, "hash_seed", 250).all()
    assert kept(trace_ids, "equalizing", 250).all()


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(n, 16\) bytes, not \(2, 8\)"):
        kept(np.zeros((2, 8), dtype=np.uint8), "equalizing", 10)
