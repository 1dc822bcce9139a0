"""A member of the record beside the text, compared."""

import operator
import re
from collections.abc import Iterator
from typing import Any

from corpusmill.filters.declaration import Filter, Setting, Value, text

NONE_GIVEN: list[Any] = []
ORDERS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
LISTS = ("in", "not in")
OPERATIONS = ["==", "!=", *ORDERS, *LISTS, "exists", "matches"]
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d{1,17})?")
"""Of JSON, but for exponents that Python's decimals do not have."""
FIELD = "The member: `language`, or `quality.score` for the member `score` of the object `quality`."
VALUE = (
    "What it is compared with: a text, a number, true or false; for `in` and `not in` a list; for "
    "`matches` a regular expression of Python's, found anywhere unless it says ^ and $; for "
    "`exists` nothing."
)


def kind(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    return "text" if isinstance(value, str) else "number"


def exact(value: Any) -> Any:
    """A number as it is written in decimal digits: 0.65 is 0.65, not the binary fraction next to
    it."""
    from decimal import Decimal

    return Decimal(repr(value)) if kind(value) == "number" else value


def scalar(json_text: str | None) -> Any:
    """The text, exact number, True or False that a JSON text is; None if it is another thing, of
    which no comparison is true."""
    import msgspec

    if json_text is None:
        return None
    if NUMBER.fullmatch(json_text):
        from decimal import Decimal

        return Decimal(json_text)
    return msgspec.json.decode(json_text) if json_text[0] in '"tf' else None


def shortened(json_text: str | None) -> str | None:
    """Objects and lists, which can be as large as a text, without what is in them."""
    if json_text is None or json_text[0] not in "{[":
        return json_text
    return "{}" if json_text[0] == "{" else "[]"


class Metadata(Filter):
    """Documents of whose record `field op value` is not true. Numbers are compared exactly, texts
    by their characters; text and number are never alike. A member that is null counts as not there.
    """

    fate = "metadata"
    reads_records = True
    settings = {
        "field": text(None, FIELD),
        "op": text(None, "How it is compared.", OPERATIONS),
        "value": Setting(
            NONE_GIVEN,
            VALUE,
            {
                "type": ["string", "number", "boolean", "array"],
                "items": {"type": ["string", "number"]},
            },
        ),
        "missing": text(
            "drop",
            "What becomes of a record without the member, or with one that is of another type.",
            ["keep", "drop"],
        ),
    }
    measured_with = ("field",)
    values = {
        "metadata_value": Value(
            "text", "the member as JSON has it; {} of an object, [] of a list; none without it"
        )
    }

    def measure_documents(self, documents):
        return {"metadata_value": [shortened(one) for one in documents.members(self.field)]}

    def drops(self, values):
        import numpy as np

        members = values["metadata_value"].tolist()
        keeps = {member: self.keeps(member) for member in set(members)}
        return np.array([not keeps[member] for member in members], bool)

    def keeps(self, json_text: str | None) -> bool:
        if self.op == "exists":
            return json_text not in (None, "null")
        given = self.value if self.op in LISTS else [self.value]
        member = scalar(json_text)
        alike = [exact(one) for one in given if kind(one) == kind(member)]
        if member is None or not alike:
            return self.missing == "keep"
        if self.op == "matches":
            return re.search(self.value, member) is not None
        if self.op in ORDERS:
            return ORDERS[self.op](member, alike[0])
        return (member in alike) == (self.op in ("==", "in"))

    def faults(self):
        if not all(self.field.split(".")):
            yield f"metadata: field {self.field!r} has an empty name. Correct it."
        yield from self.value_faults()

    def value_faults(self) -> Iterator[str]:
        op, value = self.op, self.value
        if op == "exists":
            if value != NONE_GIVEN:
                yield f"metadata: op exists needs no value, found {value!r}. Remove it."
        elif (op in LISTS) != isinstance(value, list) or value == []:
            wanted = "a list that is not empty" if op in LISTS else "a text or a number"
            yield f"metadata: op {op} needs as value {wanted}, found {value!r}. Give one."
        elif op in ORDERS and kind(value) == "truth":
            yield f"metadata: op {op} needs a text or a number, found {value!r}. Use == or !=."
        elif op == "matches":
            yield from self.pattern_faults()

    def pattern_faults(self) -> Iterator[str]:
        if kind(self.value) != "text":
            yield f"metadata: op matches needs a regular expression, found {self.value!r}."
            return
        try:
            re.compile(self.value)
        except re.error as error:
            yield f"metadata: {self.value!r} is no regular expression: {error}. Correct it."
