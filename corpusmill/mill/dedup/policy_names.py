"""The values of `duplicates` of a source. A separate module, so that small jobs start without
numpy."""

NEAR, EXACT, NONE = "near", "exact", "none"


def against_policy(policy: str, stages: dict[str, int]) -> int:
    """Count the duplicates of a source that its policy rules out. stages: number per stage."""
    allowed = {NEAR: [*stages], EXACT: ["identical"], NONE: []}[policy]
    return sum(number for stage, number in stages.items() if stage not in allowed)
