"""How much an outcome covers."""

from qa.oracle.document import Outcome
from qa.oracle.texts import jaccard, shingles


def counts(outcome: Outcome) -> dict[str, int]:
    """records, documents, pairs whose similarity was computed or should have been, token ids,
    packed rows."""
    documents = list(outcome.documents())
    malformed = sum(len(part.malformed) for part in outcome.parts)
    held_out = sum(counts["records"] for counts in outcome.held_out_records.values())
    rows = [row for rows in outcome.shards.values() for row in rows]
    return {
        "records": len(documents) + malformed + held_out,
        "documents": len(documents),
        "unfound_pairs": len(unfound_pairs(outcome)),
        "pairs": outcome.resolution.measured if outcome.resolution else 0,
        "ids": sum(len(outcome.tokens.ids(row[3].text)) + 1 for row in rows)
        if outcome.tokens and not outcome.refused
        else 0,
        "packed_rows": sum(map(len, outcome.packed.values())),
    }


def unfound_pairs(outcome: Outcome) -> list[tuple[int, int, float]]:
    """Kept documents that are alike from the threshold on: no band brought them together.

    LSH misses some by design, so these are a figure and no difference.
    """
    if outcome.refused or outcome.config["dedup"]["method"] != "verified":
        return []
    threshold = outcome.config["dedup"]["threshold"]
    width = outcome.config["minhash"]["shingle_chars"]
    kept = [d for d in outcome.documents() if d.filter_fate == "kept" and d.winner is None]
    sets = sorted(((shingles(d.cleaned, width), d.id) for d in kept), key=lambda pair: len(pair[0]))
    found = []
    for place, (larger, one) in enumerate(sets):
        for smaller, other in reversed(sets[:place]):
            # Sizes that are too different bound the similarity from above.
            if len(smaller) < threshold * len(larger):
                break
            if smaller and (similarity := jaccard(smaller, larger)) >= threshold:
                found.append((min(one, other), max(one, other), similarity))
    return sorted(found)
