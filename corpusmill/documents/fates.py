"""What can become of an input document. Every document ends in exactly one of these."""

KEPT = 0
EMPTY = 1
TOO_SHORT = 2
DUPLICATE = 3
NOT_SAMPLED = 4
CONTAMINATED = 5

NAMES = {
    KEPT: "kept",
    EMPTY: "empty",
    TOO_SHORT: "too_short",
    DUPLICATE: "duplicate",
    NOT_SAMPLED: "not_sampled",
    CONTAMINATED: "contaminated",
}
MALFORMED = "malformed"
"""The fate of a record that never became a document; it has no row and no id."""

DROPPED = [MALFORMED, *(NAMES[fate] for fate in NAMES if fate != KEPT)]
"""Every reason to drop a document, in the order in which they are decided."""

SPLITS = ("train", "validation", "test")
