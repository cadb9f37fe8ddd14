"""What is required of the prediction of a Collector's sampling: not one decision differs. Rows of `lab check`. Pure."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.analysis.checklist import Row, at_least
from lab.analysis.collector.sampling import kept, trace_ids

QUESTION = "Is it predicted which traces a Collector keeps?"
ID_DIGITS = 32


def drawn_ids(count: int) -> NDArray[np.uint8]:
    """Return the IDs that `fixtures/sampling.go` drew as well, as bytes (count, 16)."""
    return trace_ids([hashlib.sha256(str(n).encode()).hexdigest()[:ID_DIGITS] for n in range(count)])


def predicted(decided: Mapping[str, Any]) -> list[Row]:
    """Judge the prediction by what samplers decided (`fixtures/sampling.v1.json`): settings, and a hash of decisions.

    A setting counts if all of its decisions are predicted: a single different one changes the hash.
    """
    ids = drawn_ids(decided["count"])
    settings: Sequence[Mapping[str, Any]] = decided["rows"]
    same = [
        hashlib.sha256(np.packbits(kept(ids, one["mode"], one["percent"], one["hash_seed"])).tobytes()).hexdigest()
        == one["sha256"]
        for one in settings
    ]
    return [
        at_least("trace IDs", len(ids), 100_000),
        at_least("settings of the sampler without a mismatch", sum(same), len(settings)),
    ]
