"""Turn faults of a JSON schema into messages that users can act on."""

import math
from typing import Any

import jsonschema
import yaml

from corpusmill.messages.near_names import near_names

MOST_SHOWN = 80
"""Maximum number of characters of a value in a message."""

# JSON Schema accepts 128.0 as an integer, but no array has 128.0 permutations. YAML has .nan, which
# is neither below nor above any limit.
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
    """Format the path of a schema error: `sources[0].weight`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text or "the configuration"


KINDS = {
    "number": "a number",
    "integer": "a whole number",
    "string": "a text",
    "array": "a list",
    "object": "keys with values",
    "boolean": "true or false",
    "null": "null",
}


def in_words(error: jsonschema.ValidationError, inside: str = "") -> str:
    """Return the message of an error. inside: place of the checked value in the configuration."""
    place = _place(error.absolute_path) if error.absolute_path or not inside else ""
    place = ".".join(filter(None, [inside, place]))
    if error.validator == "additionalProperties":
        return f"{place}: {_unknown(error)}"
    if error.validator == "required":
        missing = next(key for key in error.validator_value if key not in error.instance)
        near = near_names(missing, [key for key in error.instance if isinstance(key, str)])
        written = f" Is it misspelt as {near[0]}?" if near else ""
        return f"{place}: the key {missing} is missing.{written}"
    meaning = error.schema.get("description", "") if isinstance(error.schema, dict) else ""
    if error.validator == "pattern":
        return f"{place}: {error.instance!r} is not valid. {meaning}".strip()
    if error.validator == "uniqueItems":
        twice = next(one for one in error.instance if error.instance.count(one) > 1)
        return f"{place}: expected each entry once, got {as_yaml(twice)} twice. {meaning}".strip()
    expected, got = expected_of(error.schema), as_yaml(error.instance)
    hint = _hint(error.instance, error.schema)
    return f"{place}: expected {expected}, got {got}.{hint} {meaning}".strip()


def _unknown(error: jsonschema.ValidationError) -> str:
    known = sorted(error.schema.get("properties", {}))
    unknown = sorted(map(str, set(error.instance) - set(known)))  # YAML reads `no` as a boolean
    near = {key: near_names(key.lower(), known) for key in unknown}
    keys = f"key{'s' if len(unknown) > 1 else ''} {', '.join(unknown)}"
    if len(unknown) > 1:
        meant = "".join(
            f" Did you mean {found[0]} instead of {key}?" for key, found in near.items() if found
        )
    else:
        meant = _is_meant(near[unknown[0]])
    return f"unknown {keys}.{meant} Known here: {', '.join(known)}."


def _is_meant(near: list[str]) -> str:
    return f" Did you mean {near[0]}?" if near else ""


def expected_of(schema: dict[str, Any]) -> str:
    """Say what is allowed: `a whole number from 1 to 4096`, `auto or a number above 0`."""
    if "anyOf" in schema:
        return " or ".join(map(expected_of, schema["anyOf"]))
    if "const" in schema:
        return as_yaml(schema["const"])
    if "enum" in schema:
        return f"one of {', '.join(map(as_yaml, schema['enum']))}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(KINDS[kind] + _limits(kind, schema) for kind in kinds)


def _limits(kind: str, schema: dict[str, Any]) -> str:
    if kind in ("number", "integer"):
        least, most = schema.get("minimum"), schema.get("maximum")
        if least is not None and most is not None:
            return f" from {least} to {most}"
        told = {"minimum": "from {} on", "exclusiveMinimum": "above {}",
                "maximum": "up to {}", "exclusiveMaximum": "below {}"}  # fmt: skip
        said = [words.format(schema[limit]) for limit, words in told.items() if limit in schema]
        return f" {' and '.join(said)}" if said else ""
    if kind == "string" and "minLength" in schema:
        return " that is not empty"
    if kind == "array":
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        entries = "entry" if least == 1 else "entries"
        least_said = f" of at least {least} {entries}" if least else ""
        return least_said + (f" of at most {most} entries" if most else "")
    return ""


def as_yaml(value: Any) -> str:
    """Format a value as YAML on one line; cut a long one."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    dumped = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=math.inf)
    text = dumped.removesuffix("\n").removesuffix("\n...")
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


def _hint(value: Any, schema: dict[str, Any]) -> str:
    """Say how to write the value that is likely meant."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if isinstance(value, str) and {"number", "integer"} & set(kinds) and _is_number(value):
        number = float(value)
        meant = int(number) if number.is_integer() else number
        return f" YAML reads this value as text: write {meant}."
    if "integer" in kinds and isinstance(value, float) and value.is_integer():
        return f" Write {int(value)}."
    if "array" in kinds and not isinstance(value, (list, dict, type(None))):
        return f" Write the value in brackets: [{as_yaml(value)}]."
    if "string" in kinds and isinstance(value, (int, float)):
        return f" YAML does not read this value as text: write '{as_yaml(value)}', in quotes."
    if "boolean" in kinds and isinstance(value, str):
        return " Write true or false, without quotes."
    if isinstance(value, str) and "enum" in schema:
        return _is_meant(near_names(value.lower(), [str(one) for one in schema["enum"]]))
    return ""


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
