"""Which telemetry variants there are: the folders of `services/telemetry/` (format: docs/reference/formats.md)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from lab.spec import (
    Environment,
    Problem,
    Shape,
    SpecError,
    Version1,
    dotted,
    parse_yaml,
    read_text,
    suggestion,
    user_error,
    validate,
)

# Each version of an instrumentation is a separate variant: otel-agent@2.2.0.
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.@-]{0,62}$")]
NO_BACKEND = "none"

Traces = Literal["all", "sampled", "none"]
BackendName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]


class Variant(Shape):
    """One way to observe the services, or none."""

    format: Literal["tollbooth.variant"]
    version: Version1
    title: str = Field(min_length=1, max_length=120, description="shown in tables' legends")
    instrumentation: Name | None = Field(
        default=None, description="the folder whose jars or agent are used; the file's own where left out"
    )
    traces: Traces = Field(description="which requests make the spans that the topology predicts")
    backend: BackendName = Field(default=NO_BACKEND, description="where it sends to unless a level says another")
    environment: Environment = Field(default_factory=dict, description="given to every service")
    backends: Mapping[BackendName, Environment] = Field(
        default_factory=dict, description="what it can send to, and the variables that each needs besides"
    )


@dataclass(frozen=True)
class Telemetry:
    """How a level observes the services: a variant with the level's choices."""

    instrumentation: str
    backend: str
    traces: Traces
    environment: Mapping[str, str]


def chosen(
    variant: Variant, backend: str | None = None, traces: Traces | None = None, environment: Mapping[str, str] = {}
) -> Telemetry:
    """Return the variant with a level's choices; each that is given takes precedence."""
    sends_to = backend or variant.backend
    return Telemetry(
        instrumentation=variant.instrumentation or "",
        backend=sends_to,
        traces=traces or variant.traces,
        environment={**variant.environment, **variant.backends.get(sends_to, {}), **environment},
    )


def load_variants(folder: Path) -> dict[str, Variant]:
    """Return the variants in `folder` by name, in order of name. Raises `UserError` for a wrong file."""
    return {path.parent.name: _load(path) for path in sorted(folder.glob("*/variant.yaml"))}


def _load(path: Path) -> Variant:
    try:
        variant = validate(Variant, parse_yaml(read_text(path)))
        if variant.backend not in {NO_BACKEND, *variant.backends}:
            others = suggestion(variant.backend, variant.backends)
            raise SpecError([Problem(("backend",), f"'{variant.backend}' is not among its backends; {others}")])
    except SpecError as error:
        raise user_error(str(path), error.problems, dotted, "docs/reference/formats.md describes the format") from None
    return variant.model_copy(update={"instrumentation": variant.instrumentation or path.parent.name})
