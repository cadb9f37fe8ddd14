"""Check data against a model, and say what is wrong in the words of the model's JSON Schema.

Messages are made of the schema that is shipped for editors: what is expected at a place, and which keys are valid.
A new field needs no message of its own.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lab.spec.problems import Path, Problem, SpecError, nearest, show, suggestion

Schema = Mapping[str, Any]


class Shape(BaseModel):
    """A part of a file: frozen, without unknown keys, and without guessing (neither `true` nor "1" is 1)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


_CONSEQUENCES = {"default_factory_not_called"}  # of a problem that is reported anyway

# A literal 1 would accept `true`.
Version1 = Annotated[int, Field(ge=1, le=1, json_schema_extra={"const": 1})]
Version2 = Annotated[int, Field(ge=2, le=2, json_schema_extra={"const": 2})]

ShapeT = TypeVar("ShapeT", bound=Shape)

# A schema is only read, and making that of an experiment takes longer than all the rest.
schema_of = cache(lambda model: model.model_json_schema())


def validate(model: type[ShapeT], data: object) -> ShapeT:
    """Return `data` as a `model`. Raises `SpecError` with every problem, one per place."""
    try:
        return model.model_validate(mapping(data))
    except ValidationError as error:
        # An unknown key goes first: it is often why another one is missing.
        errors = sorted(error.errors(include_url=False), key=lambda details: details["type"] != "extra_forbidden")
        wrong_kinds = {_above_kind(details) for details in errors} - {None}
        problems = [
            _problem(schema_of(model), details)
            for details in errors
            if details["type"] not in _CONSEQUENCES
            and (_above_kind(details) is not None or details["loc"][:-1] not in wrong_kinds)
        ]
    # A choice between types makes an error for each of them, at one path and with one text.
    raise SpecError(dict.fromkeys(problems))


def mapping(data: object) -> dict[str, object]:
    """Return `data` if it is a mapping; raises `SpecError` otherwise."""
    if isinstance(data, dict):
        return data
    raise SpecError([Problem((), f"got {show(data)}, expected a mapping")])


def _above_kind(error: Mapping[str, Any]) -> Path | None:
    """Return the place of a part whose `kind` is wrong: what else is wrong in it follows from that."""
    above, last = error["loc"][:-1], error["loc"][-1:]
    return above if last == ("kind",) and error["type"] == "literal_error" else None


def field_paths(schema: Schema, part: Schema | None = None, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every field that has a fixed name, outermost first: of a `part` of the schema, or of all."""
    part = schema if part is None else part
    for name, field in part.get("properties", {}).items():
        yield (*above, name)
        yield from field_paths(schema, _dereferenced(schema, field), (*above, name))
    for choice in part.get("oneOf", ()):
        yield from field_paths(schema, _dereferenced(schema, choice), above)


def _problem(schema: Schema, error: Mapping[str, Any]) -> Problem:
    """Make a problem of one of pydantic's errors."""
    path, wanted = _follow(schema, error["loc"])
    seen = error["input"]
    match error["type"]:
        case "extra_forbidden":
            key = str(error["loc"][-1])
            return Problem((*path, key), f"unknown key; {suggestion(key, wanted.get('properties', {}))}")
        case "missing":
            return Problem(path, f"missing; expected {describe(wanted)}")
        case "union_tag_invalid" | "union_tag_not_found":
            tag = wanted["discriminator"]["propertyName"]
            choice = {"enum": list(wanted["discriminator"]["mapping"])}
            return Problem(
                (*path, tag),
                _unlike(seen[tag], choice) if tag in seen else f"missing; expected {describe(choice)}",
            )
        case "string_pattern_mismatch" if error["loc"][-1] == "[key]":
            return Problem(path, f"not a valid name here; expected {describe({'type': 'string', **error['ctx']})}")
        case _:
            return Problem(path, _unlike(seen, wanted))


def _unlike(seen: object, wanted: Schema) -> str:
    text = f"got {show(seen)}, expected {describe(wanted)}"
    if isinstance(seen, str) and (meant := nearest(seen, map(str, wanted.get("enum", ())))):
        return f"{text}; did you mean '{meant}'?"
    if wanted.get("type") == "string" and isinstance(seen, bool | int | float):
        return f"{text}: put it in quotes"
    return text


def _follow(schema: Schema, location: Path) -> tuple[Path, Schema]:
    """Follow pydantic's location as far as it goes: the path as the user wrote it, and the schema there."""
    path: Path = ()
    part = schema
    for step in location:
        below = _below(schema, part, step)
        if below is not None:
            path = (*path, step)
        elif step in part.get("discriminator", {}).get("mapping", {}):  # names a choice, is not in the file
            below = {"$ref": part["discriminator"]["mapping"][step]}
        else:
            break
        part = _dereferenced(schema, below)
    return path, part


def _below(schema: Schema, part: Schema, step: str | int) -> Schema | None:
    if isinstance(step, int) and "anyOf" not in part:
        return dict(enumerate(part.get("prefixItems", ()))).get(step, part.get("items"))
    if step in part.get("properties", {}):
        return part["properties"][step]  # type: ignore[no-any-return]
    if part.get("type") == "object" and step != "[key]":
        values = [*part.get("patternProperties", {}).values(), part.get("additionalProperties")]
        return values[0] or None  # a part without free keys has `additionalProperties: false`
    return next(
        filter(None, (_below(schema, _dereferenced(schema, choice), step) for choice in part.get("anyOf", ()))), None
    )


def _dereferenced(schema: Schema, part: Schema) -> Schema:
    while "$ref" in part:
        part = schema["$defs"][part["$ref"].removeprefix("#/$defs/")]
    return part


def describe(wanted: Schema) -> str:
    """Say in a few words what a JSON Schema requires."""
    if "anyOf" in wanted:
        return " or ".join(describe(choice) for choice in wanted["anyOf"])
    if "const" in wanted:
        return show(wanted["const"])
    if "enum" in wanted:
        return " or ".join(show(choice) for choice in wanted["enum"])
    return _NOUNS.get(wanted.get("type", ""), "a mapping") + _limits(wanted)


_NOUNS = {
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "string": "text",
    "array": "a list",
    "null": "nothing",
}


def _limits(wanted: Schema) -> str:
    if "pattern" in wanted:
        return f" of the form {wanted['pattern'].removeprefix('^').removesuffix('$')}"
    if "minimum" in wanted:
        return f" from {wanted['minimum']} to {wanted['maximum']}"
    if "maxLength" in wanted:
        return f" of {wanted.get('minLength', 0)} to {wanted['maxLength']} characters"
    if "maxItems" in wanted:
        return " of " + " to ".join(map(str, sorted({wanted.get("minItems", 0), wanted["maxItems"]})))
    return " that is not empty" if "minItems" in wanted or "minProperties" in wanted else ""
