"""How much a law is tried: on all of its examples with --whole, on a sample otherwise."""

from hypothesis import settings

SAMPLED = 25
"""Examples of a law that asks for no number, which are 100 with --whole."""


def examples(number: int, **more) -> settings:
    """Settings of a law with so many examples with --whole, and a tenth of them without."""
    whole = settings.get_current_profile_name() == "seeded"
    return settings(max_examples=number if whole else -(-number // 10), **more)
