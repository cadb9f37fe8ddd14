"""What a target and its levels may set in an experiment file. A kind of target extends both models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from pydantic import Field

from lab.spec.model import Shape

Rate = Annotated[float, Field(ge=0.1, le=20)]
VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,100}$")]
Environment = Mapping[VariableName, Annotated[str, Field(max_length=4000)]]


class TargetSettings(Shape):
    """What is measured: `target` in an experiment file."""

    kind: str = Field(description="the kind of target")

    def level_defaults(self) -> Mapping[str, object]:
        """Return the settings that every level has where no factor sets them."""
        return {}


class LevelSettings(Shape):
    """What a level of any target may set. The model is the file's schema, the level and its record in one."""

    users_fraction: float = Field(default=1.0, gt=0, le=1, description="share of the load's users")
    observer_rate_hz: Rate | None = Field(
        default=None, description="samples per second, in a study of what measuring costs"
    )
    environment: Environment = Field(
        default_factory=dict, description="variables of every measured container, over the experiment's"
    )

    @property
    def needs_own_start(self) -> bool:
        """Whether a level leaves its containers in a state that the next level must not meet."""
        return False


LevelT = TypeVar("LevelT", bound=LevelSettings)


@dataclass(frozen=True)
class Level(Generic[LevelT]):
    """One thing to compare. Levels of the same `start` may share one start of the containers."""

    name: str
    settings: LevelT
    start: str = ""

    def recorded(self) -> dict[str, object]:
        """Return what `trial.json` records of the level's settings."""
        return self.settings.model_dump(mode="json")


def merged(parts: Sequence[LevelT]) -> LevelT:
    """Combine what several factors set. A later one takes precedence; mappings and lists are joined."""
    values: dict[str, object] = {}
    for part in parts:
        for name in part.model_fields_set:
            given, known = getattr(part, name), values.get(name)
            if isinstance(given, Mapping) and isinstance(known, Mapping):
                given = {**known, **given}
            elif isinstance(given, list | tuple) and isinstance(known, list | tuple):
                given = [*known, *given]
            values[name] = given
    return type(parts[-1]).model_validate(values)
