"""Sections of the configuration as classes: a field states its type, limits and meaning once.

    @dataclass(frozen=True, kw_only=True)
    class Splits(Section):
        validation: float = key("Share of the documents.", least=0, below=1)

The JSON schema, the checks and docs/reference/configuration.md follow from the fields.
"""

import dataclasses
import types
from collections.abc import Mapping
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints

KINDS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
LIMITS = {
    "least": "minimum", "most": "maximum", "above": "exclusiveMinimum",
    "below": "exclusiveMaximum", "pattern": "pattern", "least_chars": "minLength",
    "least_entries": "minItems", "most_entries": "maxItems", "unique": "uniqueItems",
    "entries": "items",
}  # fmt: skip
"""Arguments of `key` -> keywords of JSON Schema."""
UNSHAPING = " This key does not affect the corpus."
"""End of the description of a key with `shapes=False`."""


def key(
    meaning: str,
    default: Any = dataclasses.MISSING,
    shapes: bool = True,
    within: str = "",
    **limits: Any,
) -> Any:
    """Declare a key with a value.

    default: only for keys of list entries; all others are in config.yaml. shapes: whether the value
    may change the corpus. within: the settings of steps that the key is part of; see
    `StepSettings.of`. limits: see LIMITS; in a union they apply to the members that they fit.
    """
    meaning += "" if shapes else UNSHAPING
    schema = {LIMITS[name]: limit for name, limit in limits.items()} | {"description": meaning}
    return dataclasses.field(
        default=default, metadata={"schema": schema, "shapes": shapes, "within": within}
    )


class Section:
    """A part of the configuration: a frozen dataclass, each field a key or a section."""

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the section."""
        members = {}
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            kind = get_type_hints(cls)[field.name]
            if field.default is None:  # optional; null is not allowed in files
                kind = Union[tuple(one for one in get_args(kind) if one is not type(None))]  # noqa: UP007
            members[field.name] = _with_limits(_schema_of(kind), field.metadata.get("schema", {}))
            if field.default is not dataclasses.MISSING and field.default is not None:
                members[field.name]["default"] = field.default
        required = [f.name for f in dataclasses.fields(cls)  # type: ignore[arg-type]
                    if f.default is dataclasses.MISSING]  # fmt: skip
        said = {"description": cls.__doc__} if _has_own_docstring(cls) else {}
        return said | {
            "type": "object",
            "additionalProperties": False,
            "required": required,
            "properties": members,
        }

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return a section with values that its schema allows."""
        hints = get_type_hints(cls)
        return cls(**{name: _made(hints[name], value) for name, value in given.items()})

    @classmethod
    def shaping(cls, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a section as given, without the keys that do not change the corpus."""
        fields = {field.name: field for field in dataclasses.fields(cls)}  # type: ignore[arg-type]
        hints = get_type_hints(cls)
        return {
            name: _shaping(hints[name], value)
            for name, value in given.items()
            if fields[name].metadata.get("shapes", True)
        }

    def keys_within(self, settings: str) -> dict[str, Any]:
        """Return the values of all keys that are declared as part of these settings, by name."""
        found: dict[str, Any] = {}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Section):
                found |= value.keys_within(settings)
            elif field.metadata.get("within") == settings:
                found[field.name] = value
        return found


def as_given(section: Any) -> Any:
    """Return a section as in a config file, without keys that have their default value."""
    if isinstance(section, list):
        return [as_given(one) for one in section]
    if hasattr(section, "entry"):  # such as a ConfiguredFilter
        return section.entry
    if not isinstance(section, Section):
        return section
    return {
        field.name: as_given(value)
        for field in dataclasses.fields(section)  # type: ignore[arg-type]
        if (value := getattr(section, field.name)) != field.default
    }


def _has_own_docstring(cls: type) -> bool:
    # A dataclass without a docstring gets its signature as one.
    said = cls.__doc__ or ""
    return bool(said) and not said.startswith(f"{cls.__name__}(")


def _shaping(kind: Any, given: Any) -> Any:
    if get_origin(kind) is list:
        return [_shaping(get_args(kind)[0], one) for one in given]
    is_ours = isinstance(kind, type) and issubclass(kind, Section)
    return kind.shaping(given) if is_ours else given


def _is_section(kind: Any) -> bool:
    """Say whether a type is a section or behaves like one: it has a schema and `of`."""
    return isinstance(kind, type) and hasattr(kind, "schema")


def _schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON schema of a field's type."""
    if _is_section(kind):
        return kind.schema()
    if kind is Any:
        return {}
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
    if origin is list:
        return {"type": "array", "items": _schema_of(inner[0])}
    if origin in (Union, types.UnionType):
        if all(one in KINDS for one in inner):
            return {"type": [KINDS[one] for one in inner]}
        return {"anyOf": [_schema_of(one) for one in inner]}
    return {"type": "object"} if origin is dict else {"type": KINDS[kind]}


def _with_limits(schema: dict[str, Any], limits: dict[str, Any]) -> dict[str, Any]:
    """Add limits to a schema; in a union to its numbers, so that messages show them there."""
    if "anyOf" not in schema:
        return schema | limits
    numeric = {name: limits[name] for name in limits if "imum" in name.lower()}
    members = [one | numeric if "const" not in one else one for one in schema["anyOf"]]
    return {"anyOf": members} | {k: v for k, v in limits.items() if k not in numeric}


def _made(kind: Any, value: Any) -> Any:
    if _is_section(kind):
        return kind.of(value)
    if get_origin(kind) is list and _is_section(get_args(kind)[0]):
        return [get_args(kind)[0].of(one) for one in value]
    return value
