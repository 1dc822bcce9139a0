"""Faults of a JSON schema in words that a person can act on."""

import math
from typing import Any

import jsonschema

# In JSON 128.0 is an integer; here it would be a number of permutations that no array has. YAML
# has .nan, which is neither below nor above any limit.
Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda checker, value: type(value) is int,
            "number": lambda checker, value: type(value) in (int, float) and math.isfinite(value),
        }
    ),
)


def _place(path: Any) -> str:
    """`sources[0].weight` for the path of a schema error."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "the configuration"


def in_words(error: jsonschema.ValidationError, inside: str = "") -> str:
    """inside: where what was checked stands, if it is not the whole configuration."""
    place = _place(error.absolute_path) if error.absolute_path or not inside else ""
    place = ".".join(filter(None, [inside, place]))
    if error.validator == "additionalProperties":
        known = sorted(error.schema.get("properties", {}))
        unknown = sorted(set(error.instance) - set(known), key=str)  # YAML's `no` is no text
        return f"{place}: unknown key {unknown[0]}. Known here: {', '.join(known)}."
    meaning = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    if error.validator == "pattern":
        return f"{place}: {error.instance!r} is not possible. {meaning}".strip()
    if error.validator == "type" and _looks_like_a_number(error.instance):
        hint = f"YAML takes {error.instance} for a text; write the number with digits alone."
        return f"{place}: {error.message}. {hint} {meaning}".strip()
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        return f"{place}: the key {missing} is missing."
    if error.validator == "type" and error.validator_value == "array":
        hint = "Write a list: [one, another]."
        return f"{place}: {error.message}. {hint} {meaning}".strip()
    if error.validator == "anyOf":
        return f"{place}: {error.instance!r} is not possible. {meaning}".strip()
    if error.validator == "type" and error.validator_value == "string":
        hint = "YAML takes it for something else without quotes."
        return f"{place}: {error.message}. {hint} {meaning}".strip()
    return f"{place}: {error.message}. {meaning}".strip()


def _looks_like_a_number(value: Any) -> bool:
    try:
        return isinstance(value, str) and math.isfinite(float(value))
    except ValueError:
        return False
