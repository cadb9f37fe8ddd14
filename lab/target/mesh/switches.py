"""What can be switched of a running mesh, and in whose words: the page's, `lab up`'s and `make up`'s. Pure."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from lab.record import NO_SIDECAR, PASSTHROUGH
from lab.spec import Control, Experiment, Settings, Switches
from lab.target.mesh.sidecars.modes import named_sets
from lab.target.mesh.sidecars.source import Pattern
from lab.target.mesh.system import Parts
from lab.target.mesh.topology import Topology
from lab.target.mesh.variants import Variant

RATES = ("1", "2", "5", "10", "20")
ALL = "1"
SHARES = (ALL, "0.5", "0.1", "0.01")
# Of OpenTelemetry's SDK and of Spring Boot: a service reads those that its telemetry knows.
SAMPLER = "OTEL_TRACES_SAMPLER"
SHARE = "OTEL_TRACES_SAMPLER_ARG"
SAMPLED_BY = {SAMPLER: "parentbased_traceidratio"}
SHARE_IN = (SHARE, "MANAGEMENT_TRACING_SAMPLING_PROBABILITY")
# By what a topology's entry speaks: the field that says how much load there is.
LOAD_FIELDS = {"http": "users", "grpc": "requests_per_s"}


@dataclass(frozen=True)
class Choices:
    """The names that there are: of telemetry variants and of topologies."""

    variants: Callable[[], Mapping[str, Variant]]
    topologies: Callable[[], Collection[str]]


def switches(parts: Callable[[str], Parts], choices: Choices) -> Switches:
    """Return the switches of a mesh. `parts` reads the parts of a mesh with the topology of a name."""

    def controls(settings: Settings) -> tuple[Control, ...]:
        patterns = parts(settings["topology"]).envoy.patterns
        return (
            Control("telemetry", "Telemetry", tuple(choices.variants())),
            Control("sampling", "Share of sampled traces", _with(SHARES, settings["sampling"])),
            Control("topology", "Topology", tuple(sorted(choices.topologies()))),
            Control("sidecar", "Sidecar", _with(_modes(patterns), settings["sidecar"])),
            Control("load", "Load, requests per second (about)", _with(RATES, settings["load"])),
        )

    def field(settings: Settings) -> str:
        return LOAD_FIELDS[parts(settings["topology"]).topology.entry_protocol]

    def words(settings: Settings) -> tuple[str, ...]:
        named = ("telemetry", "topology", "sidecar")
        return (
            *(f"{name}={settings[name]}" for name in named),
            *([f"{field(settings)}={settings['load']}"] if settings["load"] else []),
            *(sampling_words(settings["sampling"]) if settings["sampling"] != ALL else ()),
        )

    def make(settings: Settings) -> Mapping[str, str]:
        return {
            **{name: f"{name.upper()}=%s" for name in ("telemetry", "sampling", "topology", "sidecar")},
            "load": f'ARGS="--set {field(settings)}=%s"',
        }

    return Switches(
        controls,
        lambda experiment: read(experiment, parts),
        words,
        make,
        lambda settings: per_s(settings["load"]),
        lambda settings: choices.variants()[settings["telemetry"]].traces != "none",
    )


def sampling_words(share: str) -> tuple[str, ...]:
    """Return the variables of a share of sampled traces, as overrides. The value of each is text."""
    given = {**SAMPLED_BY, **dict.fromkeys(SHARE_IN, share)}
    return tuple(f'environment.{name}="{value}"' for name, value in given.items())


def read(experiment: Experiment, parts: Callable[[str], Parts]) -> Settings:
    """Return the settings of an experiment that `lab up` started."""
    level = experiment.baseline_level().settings
    topology: Topology = parts(level.topology_name).topology
    return {
        "telemetry": level.telemetry,
        "sampling": level.environment.get(SHARE, ALL),
        "topology": level.topology_name,
        "sidecar": level.sidecar,
        # Who thinks for a second sends a request per second.
        "load": _text(getattr(experiment.load.schedule, LOAD_FIELDS[topology.entry_protocol], "")),
    }


def per_s(load: str) -> float | None:
    """Return a load's requests per second; None where they are not known before."""
    try:
        return float(load)
    except ValueError:
        return None


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _modes(patterns: Mapping[str, Pattern]) -> tuple[str, ...]:
    return (NO_SIDECAR, PASSTHROUGH, *named_sets(patterns), *patterns)


def _with(values: tuple[str, ...], current: str) -> tuple[str, ...]:
    """Return the values, and the one that is in force: it may have been typed."""
    return values if current in values else (*values, current)
