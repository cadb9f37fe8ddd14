"""How many nanoseconds and bytes the larger units have."""

US_NS = 1_000
MS_NS = 1_000_000
SECOND_NS = 1_000_000_000
MIB = 1 << 20
