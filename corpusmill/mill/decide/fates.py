"""What can become of an input record. Each ends in exactly one of these.

Beside them there is a fate for every filter of the run, named by the filter.
"""

KEPT = "kept"
MALFORMED = "malformed"
"""A record that never became a document; it has no row and no id."""
DUPLICATE = "duplicate"
NOT_SAMPLED = "not_sampled"
CONTAMINATED = "contaminated"

RESERVED_FATES = (KEPT, MALFORMED, DUPLICATE, NOT_SAMPLED, CONTAMINATED)

SPLITS = ("train", "validation", "test")


def dropping_fates(filters: list[str]) -> list[str]:
    """Every reason to drop a record, in the order in which they are decided.

    filters: the fates of the run's filters, in their order.
    """
    return [MALFORMED, *filters, DUPLICATE, NOT_SAMPLED, CONTAMINATED]
