"""Strings in the record, such as dates and categories."""

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
    pattern,
    several,
    text,
    unlike,
)

FIELD = "Name of the field; `quality.score` is the field score of the object quality."


class Metadata(Filter):
    """Drops documents by the value of a field of their record, compared as a string. Numbers and
    booleans are compared as they are written in the record: "1", "true". A null counts as missing.
    To compare numbers, use metadata_number."""

    fate = "metadata"
    needs = ("records",)
    settings = {
        "field": member(None, FIELD),
        "missing": keep_or_drop("drop", "What to do with records without the field."),
        "one_of": several(None, 'Values to keep; write "2026" and "true" in quotes.', least=1),
        "none_of": several(None, "Values to drop.", least=1),
        "first": text(
            None,
            'Smallest value to keep, compared by code points; useful for dates such as "2019-06".',
        ),
        "last": text(None, "Largest value to keep."),
        "matches": pattern(
            "Python regular expression that must occur in the value; anchor it with ^ and $. If "
            "the search in one value takes more than 10 seconds, the run fails."
        ),
    }
    measured_with = ("field",)
    values = {
        "metadata_value": Value("text", "value of the field; {} for an object, [] for a list")
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
        from corpusmill.mill.filters.documents import as_text

        return {"metadata_value": [as_text(one) for one in documents.members(self.field)]}

    def faults(self):
        import regex

        if not all(self.field.split(".")):
            yield f"metadata: field {self.field!r} has an empty name. Correct the field."
        try:
            regex.compile(self.matches or "")
        except regex.error as error:
            yield f"metadata: {self.matches!r} is not a regular expression: {error}. Correct it."
