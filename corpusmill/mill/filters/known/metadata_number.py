"""Numbers in the record, such as scores."""

import re

from corpusmill.mill.filters.declaration import (
    Filter,
    Value,
    above,
    below,
    keep_or_drop,
    lacking,
    member,
    number,
)

NUMBER = re.compile(r"-?\d.*")
"""Matches JSON numbers and no other JSON value."""


class MetadataNumber(Filter):
    """Drops documents by a number in their record. A value that is not a number counts as missing,
    even a string of digits."""

    fate = "metadata_number"
    needs = ("records",)
    settings = {
        "field": member(
            None,
            "Name of the field; `quality.score` is the field score of the object quality.",
        ),
        "missing": keep_or_drop("drop", "What to do with records without a number in this field."),
        "min": number(None, "Minimum number to keep."),
        "max": number(None, "Maximum number to keep."),
    }
    measured_with = ("field",)
    values = {"metadata_number": Value("float64", "number in the field")}
    limits = (
        lacking("metadata_number", "missing"),
        below("metadata_number", "min"),
        above("metadata_number", "max"),
    )

    def measure_documents(self, documents):
        import numpy as np

        found = [
            float(one) if one and NUMBER.fullmatch(one) else np.nan
            for one in documents.members(self.field)
        ]
        return {"metadata_number": np.array(found, np.float64)}

    def faults(self):
        if not all(self.field.split(".")):
            yield f"metadata_number: field {self.field!r} has an empty name. Correct the field."
