"""Report the duplicates of a run, and stop the run if there are too many."""

import json
from collections import Counter

from corpusmill.mill.dedup.cluster_sizes import added
from corpusmill.mill.dedup.mixed_kinds import refuse_mixed

SHOWN_GROUPS = 10


def duplicates_of(
    parts: list[dict], bins: list[dict], sources: dict[str, Counter], policies: dict[str, str]
) -> dict:
    """Return the content of duplicates.json. sources: documents and duplicates of each."""
    stages: Counter = Counter()
    for part in parts:
        stages.update(part["stages"])
    groups, of_copies = largest_groups(bins, "texts"), largest_groups(bins, "documents")
    return {
        "dropped": dict(stages),
        "pairs": sum(one["pairs"] for one in bins),
        "measured": sum(one["measured"] for one in bins),
        "sources": {
            source: {"policy": policies[source], **shares(count)}
            for source, count in sorted(sources.items())
        },
        **preferred_kinds(parts),
        "clusters": added(one["clusters"] for one in bins),
        "largest_groups": groups + [group for group in of_copies if group not in groups],
    }


def refuse_too_many(
    bins: list[dict],
    sources: dict[str, Counter],
    max_group_texts: int | None,
    max_duplicate_fraction: dict[str, float],
) -> None:
    """Raise ValueError, with evidence, if more is dropped than the configuration allows."""
    groups, of_copies = largest_groups(bins, "texts"), largest_groups(bins, "documents")
    faults = source_faults(sources, max_duplicate_fraction)
    if max_group_texts is not None and groups and groups[0]["texts"] > max_group_texts:
        faults.append(
            f"a group of {groups[0]['texts']} different texts is connected by pairs that may be "
            f"similar, but dedup.max_group_texts allows only {max_group_texts}. Raise this limit "
            "if the group is intended."
        )
    if faults:
        raise ValueError(with_evidence(faults, groups, of_copies))


def refuse_unequal(parts: list[dict], bins: list[dict]) -> None:
    """Raise ValueError if bins and parts disagree on the number of dropped documents."""
    winners = sum(part["winners"] for part in parts)
    dropped = sum(one["dropped"] for one in bins)
    if winners != dropped:
        raise ValueError(
            f"counts disagree: the bins dropped {dropped} documents as duplicates, but the parts "
            f"have {winners} duplicates. Remove results/resolved and results/assign and run again."
        )


def largest_groups(bins: list[dict], most_of: str) -> list[dict]:
    """Return the groups with most texts, or with most documents."""
    groups = [group for one in bins for group in one["groups"]]
    return sorted(groups, key=lambda group: (-group[most_of], json.dumps(group)))[:SHOWN_GROUPS]


def shares(count: Counter) -> dict:
    """Return the figures of a source for the report."""
    share = count["duplicates"] / max(count["documents"], 1)
    told = {name: count[name] for name in ("documents", "duplicates")}
    stages = {name: number for name, number in count.items() if name not in told and number}
    return told | {"share": round(share, 6), "stages": stages}


def source_faults(
    sources: dict[str, Counter], max_duplicate_fraction: dict[str, float]
) -> list[str]:
    """Return one sentence per source that loses too much."""
    return [
        f"source {source}: {count['duplicates']} of {count['documents']} documents are duplicates, "
        f"but max_duplicate_fraction allows only {max_duplicate_fraction[source]} of them. Raise "
        "this limit for the source if the duplicates are intended."
        for source, count in sorted(sources.items())
        if count["duplicates"] > max_duplicate_fraction[source] * count["documents"]
    ]


def with_evidence(faults: list[str], groups: list[dict], of_copies: list[dict]) -> str:
    """Return the faults with the largest groups as evidence."""
    shown = [json.dumps(group, ensure_ascii=False) for group in groups[:3] + of_copies[:3]]
    return (
        "\n".join(faults) + "\nThe groups with the most texts and those with the most "
        "documents, with sample pairs and shared passages:\n" + "\n".join(dict.fromkeys(shown))
    )


def preferred_kinds(parts: list[dict]) -> dict:
    """Return how many documents have a number, a text or nothing in the preferred field, if any.

    Raise ValueError if there are both numbers and texts, which cannot be compared.
    """
    kinds: Counter = Counter()
    places: dict[str, str] = {}
    for part in parts:
        for count in part.get("prefer", {}).values():
            kinds.update(count)
        places = part.get("prefer_places", {}) | places
    if kinds:
        refuse_mixed(kinds, places)
    return {"prefer": dict(kinds)} if kinds else {}
