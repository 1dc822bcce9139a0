"""Refuse numbers and texts in one preferred field. A separate module, so that small jobs start
without numpy."""


def refuse_mixed(counts: dict[str, int], places: dict[str, str]) -> None:
    """Raise ValueError if a field is sometimes a number, sometimes a text."""
    if counts["number"] and counts["text"]:
        raise ValueError(
            f"dedup.prefer.field is a number in {counts['number']} documents, first in "
            f"{places['number']}, and a text in {counts['text']}, first in {places['text']}. "
            "Numbers and texts cannot be compared. Name another field, or give all its values one "
            "type."
        )
