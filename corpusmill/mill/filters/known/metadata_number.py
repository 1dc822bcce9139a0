"""A number in the record beside the text, a score for one."""

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
"""What begins so is a number, of all that JSON has."""


class MetadataNumber(Filter):
    """Documents by a number of their record. What is no number, a text of digits too, is not
    there."""

    fate = "metadata_number"
    needs = ("records",)
    settings = {
        "field": member(
            None, "The member: `score`, or `quality.score` for that of the object `quality`."
        ),
        "missing": keep_or_drop("drop", "What becomes of a record without such a number."),
        "min": number(None, "Least number."),
        "max": number(None, "Greatest number."),
    }
    measured_with = ("field",)
    values = {"metadata_number": Value("float64", "the number; none without it")}
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
            yield f"metadata_number: field {self.field!r} has an empty name. Correct it."
