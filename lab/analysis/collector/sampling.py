"""Which traces the Collector's `probabilistic_sampler` keeps, predicted from their IDs.

Source: the Collector's contrib repository, `processor/probabilisticsamplerprocessor` (`sampler_mode.go`,
`fnvhasher.go`) and `pkg/sampling`, at 0.111.0 and 0.149.0; `fixtures/sampling.go` ran both. The traces are assumed to
have no trace state and no sampling priority.
"""

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Mode = Literal["hash_seed", "proportional", "equalizing"]

ID_BYTES = 16
FNV_OFFSET, FNV_PRIME = np.uint32(2166136261), np.uint32(16777619)
HASH_BUCKETS = 1 << 14
# Randomness and thresholds of the consistent modes have 56 bits, which are 14 hexadecimal digits.
BITS, DIGITS, BITS_PER_DIGIT = 56, 14, 4
DEFAULT_PRECISION = 4


def trace_ids(texts: Sequence[str]) -> NDArray[np.uint8]:
    """Return IDs of 32 hexadecimal digits each as bytes (n, 16)."""
    return np.frombuffer(bytes.fromhex("".join(texts)), dtype=np.uint8).reshape(len(texts), ID_BYTES)


def kept(
    ids: NDArray[np.uint8], mode: Mode, percent: float, hash_seed: int = 0, precision: int = DEFAULT_PRECISION
) -> NDArray[np.bool_]:
    """Return for each of `ids` (n, 16) whether a sampler with these settings keeps its trace, (n,).

    `hash_seed` matters only to the mode of that name. `precision`: digits of the threshold, only of the other modes.
    """
    # The setting is a 32-bit number in the Collector, and the hashing mode also multiplies it as one.
    share = min(np.float32(percent), np.float32(100))
    if share == 0:
        return np.zeros(len(ids), dtype=np.bool_)
    if mode == "hash_seed":
        buckets = int(share * np.float32(HASH_BUCKETS / 100))
        return np.asarray(_fnv(ids, hash_seed) % np.uint32(HASH_BUCKETS) < buckets)
    return np.asarray(_randomness(ids) >= _threshold(float(share) / 100, precision))


def _fnv(ids: NDArray[np.uint8], seed: int) -> NDArray[np.uint32]:
    """Return the 32-bit FNV-1a hash of the seed, low byte first, and an ID."""
    hashes = np.full(len(ids), FNV_OFFSET)
    for byte in seed.to_bytes(4, "little"):
        hashes = (hashes ^ np.uint32(byte)) * FNV_PRIME
    for column in ids.T:
        hashes = (hashes ^ column) * FNV_PRIME
    return hashes


def _randomness(ids: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return the last 56 bits of each ID (W3C Trace Context, level 2)."""
    halves = np.ascontiguousarray(ids[:, 8:]).view(">u8")[:, 0].astype(np.uint64)
    return halves & np.uint64((1 << BITS) - 1)


def _threshold(ratio: float, precision: int) -> np.uint64:
    """Return the least randomness that is kept, rounded to `precision` digits after the leading 0s or fs."""
    ratio = max(ratio, 2.0**-BITS)
    if ratio == 1:
        return np.uint64(0)
    leading = max(-math.frexp(ratio)[1], -math.frexp(1 - ratio)[1]) // BITS_PER_DIGIT
    threshold = (1 << BITS) - _rounded(ratio * 2.0**BITS)
    cut = BITS_PER_DIGIT * (DIGITS - min(DIGITS, precision + leading))
    return np.uint64((threshold + ((1 << cut) >> 1)) >> cut << cut)


def _rounded(value: float) -> int:
    """Return the nearest integer, of two the greater one: Python's `round` takes the even one."""
    whole = int(value)
    return whole + (value - whole >= 0.5)
