"""What is true of a made-up run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SECOND_NS = 1_000_000_000
EPOCH_NS = 1_760_000_000 * SECOND_NS
SERVICES = ("gateway", "a1", "a2", "a3", "a4")
SPANS_PER_REQUEST = 123
MIB = 1 << 20


@dataclass(frozen=True)
class Level:
    """What is true of a level: per request, over all services together, after the warm-up."""

    telemetry: str = "baseline"
    cpu_ms: float = 40.0
    latency_ms: float = 60.0
    app_bytes: int = 40_000
    telemetry_bytes: int = 0
    memory_mib: float = 900.0
    backend_cpu_ms: float = 0.0
    startup_s: float = 7.0
    allocated_bytes: float = 2_000_000.0
    tags: int = 8
    lost_spans: int = 0

    @property
    def traced(self) -> bool:
        """Whether the level has a backend."""
        return self.telemetry_bytes > 0


QUICK: Mapping[str, Level] = {
    "baseline": Level(),
    "placebo": Level(),
    "otel-manual": Level("otel-manual", 52.0, 78.0, 46_000, 9_000, 1000.0, 5.0, 8.0),
    "otel-agent": Level("otel-agent", 60.0, 90.0, 46_500, 11_000, 1300.0, 6.0, 13.0, 3_500_000.0, 36),
}


@dataclass(frozen=True)
class Trial:
    """One trial, and what went wrong in it; the defaults are a good one."""

    number: int
    block: int
    level: str
    truth: Level
    noise: float = 1.0
    attempt: int = 1
    position: int = 0
    valid: bool = True
    reasons: Sequence[str] = ()
    users: int = 12
    warm_up_s: int = 10
    window_s: int = 15
    interval_s: float = 1.0
    think_time_s: float = 1.0
    start_delay_ms: float = 0.2
    failed_requests: int = 0
    steal_fraction: float = 0.0
    other_load_cores: float = 0.05
    generator_cores: float = 0.15
    drift: float = 0.0
    lost_samples_s: tuple[float, float] | None = None
    restarted: str | None = None
    oom_killed: str | None = None
    spans_in_trace: int = SPANS_PER_REQUEST
    containers: Sequence[str] = field(default=SERVICES)

    @property
    def folder(self) -> str:
        """The folder's name in `trials/`."""
        suffix = f"-try{self.attempt}" if self.attempt > 1 else ""
        return f"{self.number:03d}-{self.level.replace('/', '+')}{suffix}"

    @property
    def load_start_ns(self) -> int:
        """When the first user starts."""
        return EPOCH_NS + (self.number * 100 + self.attempt * 50) * SECOND_NS

    @property
    def window_start_ns(self) -> int:
        """The end of the warm-up."""
        return self.load_start_ns + self.warm_up_s * SECOND_NS

    @property
    def window_end_ns(self) -> int:
        """The end of what is measured."""
        return self.window_start_ns + self.window_s * SECOND_NS
