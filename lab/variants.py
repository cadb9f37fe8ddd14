"""Which telemetry variants there are: the folders of `services/telemetry/` (format: docs/formats.md)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from lab.errors import UserError
from lab.faults import FaultsError, dotted, user_error
from lab.nearest import suggestion
from lab.shape import Shape, Version1, validate
from lab.yamlfile import parse_yaml, read_text


class Variant(Shape):
    """A way to watch the services, or not to."""

    format: Literal["tollbooth.variant"]
    version: Version1
    title: str = Field(min_length=1, max_length=120, description="shown in tables' legends")
    backend: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")] = Field(description="a backend's name, or `none`")
    traces: bool = Field(description="every request makes the spans that the topology predicts")
    environment: Mapping[str, str] = Field(default_factory=dict, description="given to every service")


def load_variants(folder: Path) -> dict[str, Variant]:
    """Return the variants in `folder` by name, in order of name. Raises `UserError` for a wrong file."""
    return {path.parent.name: _load(path) for path in sorted(folder.glob("*/variant.yaml"))}


def variant_named(name: str, variants: Mapping[str, Variant]) -> Variant:
    """Return a variant. Raises `UserError`, naming the nearest one, where there is none of that name."""
    if name not in variants:
        raise UserError(
            f"unknown telemetry variant '{name}'; {suggestion(name, variants)}",
            "variants are the folders of services/telemetry/",
        )
    return variants[name]


def _load(path: Path) -> Variant:
    try:
        return validate(Variant, parse_yaml(read_text(path)))
    except FaultsError as error:
        raise user_error(str(path), error.faults, dotted, "docs/formats.md describes the format") from None
