"""Numbers and texts in one preferred field. Apart from preferences.py, so that small jobs start
without numpy."""


def refuse_mixed(counts: dict[str, int], places: dict[str, str]) -> None:
    """Raise if a field is a number here and a text there: these have no order among each other."""
    if counts["number"] and counts["text"]:
        raise ValueError(
            f"dedup.prefer.field is a number in {counts['number']} documents, first in "
            f"{places['number']}, and a text in {counts['text']}, first in {places['text']}: these "
            "have no order. Name another field, or write it alike everywhere."
        )
