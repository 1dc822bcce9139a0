"""A member of the record beside the text, compared as a text."""

import re

from corpusmill.mill.filters.declaration import (
    Filter,
    Value,
    above,
    among,
    below,
    keep_or_drop,
    lacking,
    member,
    outside,
    several,
    text,
    unlike,
)

FIELD = "The member: `language`, or `quality.score` for the member `score` of the object `quality`."


def as_text(json_text: str | None) -> str | None:
    """A text as it is, a number and true or false as the record has them, of objects and lists only
    that they are; None of null."""
    import msgspec

    if json_text is None or json_text == "null":
        return None
    if json_text[0] == '"':
        return msgspec.json.decode(json_text, type=str)
    return {"{": "{}", "[": "[]"}.get(json_text[0], json_text)


class Metadata(Filter):
    """Documents by a member of their record: one of a list or none of it, from one text to
    another, like a pattern, there at all. What is no text is compared as the record has it: "1",
    "true". A member that is null is not there. Numbers have a filter of their own,
    metadata_number."""

    fate = "metadata"
    needs = ("records",)
    settings = {
        "field": member(None, FIELD),
        "missing": keep_or_drop("drop", "What becomes of a record without the member."),
        "one_of": several(None, 'Texts that are kept; put "2026" and "true" in quotes.', least=1),
        "none_of": several(None, "Texts that drop a document.", least=1),
        "first": text(None, 'First text that is kept, by its characters: of dates "2019-06".'),
        "last": text(None, "Last text that is kept."),
        "matches": text(
            None, "A regular expression of Python's, found anywhere unless it says ^ and $."
        ),
    }
    measured_with = ("field",)
    values = {
        "metadata_value": Value("text", "the member; {} of an object, [] of a list; none without")
    }
    limits = (
        lacking("metadata_value", "missing"),
        outside("metadata_value", "one_of"),
        among("metadata_value", "none_of"),
        below("metadata_value", "first"),
        above("metadata_value", "last"),
        unlike("metadata_value", "matches"),
    )

    def measure_documents(self, documents):
        return {"metadata_value": [as_text(one) for one in documents.members(self.field)]}

    def faults(self):
        if not all(self.field.split(".")):
            yield f"metadata: field {self.field!r} has an empty name. Correct it."
        try:
            re.compile(self.matches or "")
        except re.error as error:
            yield f"metadata: {self.matches!r} is no regular expression: {error}. Correct it."
