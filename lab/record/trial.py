"""`trial.json`: what a trial was, how it went, what it left, and its verdict.

Writers build parts, each a model; `TrialRecord.of` puts them together.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from lab.record.files import Record, read_json, validated
from lab.record.series import NotDerivableError

FORMAT, VERSION = "tollbooth.trial", 2
OTHER_ROLES = {"backend", "sidecar", "generator", "observer", "scraper", "spinner"}
"""The roles of containers beside what is measured. A target gives the latter a role of its own choice."""
LOCAL = "local"
"""The name of the only machine, where a target runs on one."""
NO_SIDECAR, PASSTHROUGH = "none", "passthrough"
WITHOUT_PATTERNS = {NO_SIDECAR, PASSTHROUGH}
"""What a level's `sidecar` is where no pattern changes the answers."""
RETRIES = (
    "retry.upstream_rq_200",
    "retry.upstream_rq_2xx",
    "retry.upstream_rq_completed",
    "retry_or_shadow_abandoned",
    "upstream_rq_retry",
    "upstream_rq_retry_overflow",
    "upstream_rq_retry_success",
)
"""Envoy's counters of retries, which the sidecar study published."""
DUPLICATES = "duplicate_spans"
"""A backend's counter of accepted spans that it had accepted before."""


class ContainerRecord(Record):
    """What the engine said of a container when the trial ended."""

    role: str
    image: str
    restarts: int
    oom_killed: bool
    exit_code: int
    running: bool = False


class BackendRecord(Record):
    """What the telemetry backend counted: None, and no counter, where it could not say."""

    accepted_spans: int | None
    counters: Mapping[str, float] = Field(default_factory=dict)

    @property
    def distinct_spans(self) -> int | None:
        """The accepted spans, each once if the backend counts duplicates."""
        return None if self.accepted_spans is None else self.accepted_spans - round(self.counters.get(DUPLICATES, 0))


class SidecarRecord(Record):
    """What a sidecar counted itself during a trial's load, by Envoy's own names."""

    version: str
    counters: Mapping[str, int]


class Window(Record):
    """When a trial's load began and what part of it is measured, in Unix nanoseconds of the containers' clock.

    `apart`: nothing was sent from the last sample before the window to the first one after it.
    """

    load_start_ns: int
    start_ns: int
    end_ns: int
    apart: bool = Field(default=False, exclude_if=lambda apart: not apart)


class Stream(Record):
    """A kind of raw records of a trial. `files`: by machine, or by part."""

    version: int
    files: Mapping[str, str]


class TrialPart(Record):
    """A part of `trial.json`; a writer fills what it knows."""


class HeadPart(TrialPart):
    """What is known before a trial is run; `found` is what the load's schedule found for the level and block."""

    number: int
    attempt: int
    block: int
    position: int
    level: str
    settings: Mapping[str, Any]
    found: Mapping[str, float] = Field(default_factory=dict)


class WindowPart(TrialPart):
    """When the load was sent and measured; None where there was no load."""

    window: Window | None = None


class PredictionPart(TrialPart):
    """What the target predicts of the trial's requests."""

    expected_error_fraction: float = 0.0


class SidecarsPart(TrialPart):
    """What the sidecars counted during the trial's load, by container."""

    sidecars: Mapping[str, SidecarRecord] = Field(default_factory=dict)


class StartPart(TrialPart):
    """What all trials of one start of the containers share."""

    service_cpus: Sequence[int] = ()
    generator_cpus: Sequence[int] = ()
    containers: Mapping[str, ContainerRecord] = Field(default_factory=dict)
    startup_s: Mapping[str, float] = Field(default_factory=dict)
    phases_s: Mapping[str, float] = Field(default_factory=dict)


class OthersPart(TrialPart):
    """What other systems of the lab used in the trial's window.

    `cores_at_once`: what all systems used that ran at once, this one included and the spinner excluded.
    """

    cores_side_by_side: float = 0.0
    cores_at_once: float = 0.0


class Interval(Record):
    """A time from `start_ns` to `end_ns`, in Unix nanoseconds of the containers' clock."""

    start_ns: int
    end_ns: int


class Slice(Interval):
    """One turn of a system in alternating load. `round` and `position` (in the round) count from 0.

    `next_ns`: when the gap after it ends, and the next system's turn begins if slices are not interleaved.
    """

    round: int
    position: int
    next_ns: int


class SlicesPart(TrialPart):
    """The turns of one of the systems that alternate, and the times without load in the same set.

    `alternating_cores`: what all containers of all systems used while there was load, by the time with load.
    """

    slices: Sequence[Slice] = ()
    idle: Sequence[Interval] = ()
    alternating_cores: float = 0.0


class SettlingPart(TrialPart):
    """How a set of systems settled before it was measured.

    `settled`: whether all systems of the set were settled; None: the set was not waited for. `jit_cpu_fractions`: what
    compilers used of this system's CPU, by block of the warm-up.
    """

    settled: bool | None = None
    jit_cpu_fractions: Sequence[float] = ()


class DeliveryPart(TrialPart):
    """What reached the backend, and how one trace compares with the prediction."""

    expected_spans_per_request: float | None = None
    spans_in_trace: int | None = None
    trace_difference: str | None = None
    trace_of_second_start: bool = False
    backend: BackendRecord | None = None


class VerdictPart(TrialPart):
    """Whether the trial counts; the reasons if it does not."""

    valid: bool = False
    reasons: Sequence[str] = ()


class TrialRecord(
    HeadPart,
    WindowPart,
    PredictionPart,
    SidecarsPart,
    StartPart,
    OthersPart,
    SlicesPart,
    SettlingPart,
    DeliveryPart,
    VerdictPart,
):
    """`trial.json`."""

    streams: Mapping[str, Stream] = Field(default_factory=dict)

    @classmethod
    def of(cls, head: HeadPart, *parts: TrialPart) -> "TrialRecord":
        """Return the record that consists of `parts`; what none of them sets has its default."""
        return cls(**{name: getattr(part, name) for part in (head, *parts) for name in type(part).model_fields})

    @property
    def load_start_ns(self) -> int:
        """When the load began. Raises `NotDerivableError` if the trial had no window."""
        return self._window.load_start_ns

    @property
    def window_start_ns(self) -> int:
        """When the window began. Raises `NotDerivableError` if the trial had no window."""
        return self._window.start_ns

    @property
    def window_end_ns(self) -> int:
        """When the window ended. Raises `NotDerivableError` if the trial had no window."""
        return self._window.end_ns

    @property
    def window_apart(self) -> bool:
        """Whether nothing was sent beside the window. Raises `NotDerivableError` if the trial had no window."""
        return self._window.apart

    @property
    def window_s(self) -> float:
        """The window's length in seconds. Raises `NotDerivableError` if the trial had no window."""
        return (self._window.end_ns - self._window.start_ns) / 1e9

    def names(self, *roles: str) -> list[str]:
        """Return the containers of these roles, in the order of the roles."""
        return [name for role in roles for name, container in self.containers.items() if container.role == role]

    def measured(self) -> list[str]:
        """Return the containers of what is measured, without backends, sidecars, generator and instruments."""
        return [name for name, container in self.containers.items() if container.role not in OTHER_ROLES]

    def json_record(self) -> dict[str, Any]:
        """Return the content of `trial.json`."""
        return {"format": FORMAT, "version": VERSION, **self.model_dump(mode="json")}

    @property
    def _window(self) -> Window:
        if self.window is None:
            raise NotDerivableError("the trial has no window")
        return self.window


def trial_folders(results_dir: Path) -> list[Path]:
    """Return the folders of a run's trials, in the order in which they ran."""
    return sorted({path.parent for path in results_dir.glob("trials/*/trial.json*")})


def read_trial_record(folder: Path) -> TrialRecord:
    """Read a trial's `trial.json`."""
    return validated(TrialRecord, read_json(folder / "trial.json", FORMAT, VERSION), folder / "trial.json")
