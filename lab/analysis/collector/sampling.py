"""Which traces the Collector's `probabilistic_sampler` keeps, predicted from their IDs.

Source: opentelemetry-collector-contrib, `processor/probabilisticsamplerprocessor` (`sampler_mode.go`, `fnvhasher.go`)
and `pkg/sampling` (`probability.go`, `randomness.go`). Releases 0.111.0 and 0.149.0 decide alike:
`fixtures/sampling.v1.json`.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Mode = Literal["hash_seed", "proportional", "equalizing"]

# FNV-1a of 32 bits.
_FNV_OFFSET, _FNV_PRIME, _UINT32 = 2_166_136_261, 16_777_619, 2**32
_HASH_BUCKETS = 2**14
# A trace ID has 56 random bits, its last 7 bytes (W3C Trace Context, level 2).
_RANDOM_VALUES = 2**56
_HEX_DIGITS = 14
# The processor's default `sampling_precision`.
_PRECISION_DIGITS = 4


def kept(trace_ids: NDArray[np.uint8], mode: Mode, percent: float, hash_seed: int = 0) -> NDArray[np.bool_]:
    """Say of each trace whether the sampler keeps it.

    `trace_ids`: (n, 16), none of them only zeros. Returns (n,). `percent`: `sampling_percentage`; above 100 is 100.
    Only `hash_seed` uses the seed. Spans have no trace state: then `proportional` and `equalizing` decide alike.
    Raises `ValueError` for another shape or type.
    """
    if trace_ids.ndim != 2 or trace_ids.shape[1] != 16 or trace_ids.dtype != np.uint8:
        raise ValueError(f"trace IDs are (n, 16) bytes, not {trace_ids.shape} of {trace_ids.dtype}")
    # The processor's setting has 32 bits, which shows in thresholds.
    percent_32 = np.float32(min(percent, 100))
    if mode == "hash_seed":
        buckets = int(percent_32 * np.float32(_HASH_BUCKETS / 100))
        return _hashes(trace_ids, hash_seed) % np.uint32(_HASH_BUCKETS) < np.uint32(buckets)
    if percent_32 == 0:
        return np.zeros(len(trace_ids), dtype=np.bool_)
    randomness = np.ascontiguousarray(trace_ids).view(">u8")[:, 1] & np.uint64(_RANDOM_VALUES - 1)
    return np.asarray(randomness >= np.uint64(_threshold(float(percent_32) / 100)))


def _hashes(trace_ids: NDArray[np.uint8], seed: int) -> NDArray[np.uint32]:
    """Return the FNV-1a hash of the seed (little endian) and each ID: (n,)."""
    of_seed = _FNV_OFFSET
    for byte in seed.to_bytes(4, "little"):
        of_seed = (of_seed ^ byte) * _FNV_PRIME % _UINT32
    hashes = np.full(len(trace_ids), of_seed, dtype=np.uint32)
    for column in trace_ids.T:
        hashes ^= column
        # Wraps, as the hash wants.
        hashes *= np.uint32(_FNV_PRIME)
    return hashes


def _threshold(probability: float) -> int:
    """Return the least randomness that is kept, of 2^56 values, rounded to a few significant hexadecimal digits."""
    if probability >= 1:
        return 0
    probability = max(probability, 1 / _RANDOM_VALUES)
    # A digit more for each leading 0 or f, so that the relative error stays small at both ends.
    leading = max(-math.frexp(share)[1] // 4 for share in (probability, 1 - probability))
    digits = min(_HEX_DIGITS, _PRECISION_DIGITS + leading)
    # Go rounds halves away from 0; Python's `round` would round them to even.
    rejected = _RANDOM_VALUES - math.floor(probability * _RANDOM_VALUES + 0.5)
    unit = 16 ** (_HEX_DIGITS - digits)
    return (rejected + unit // 2) // unit * unit
