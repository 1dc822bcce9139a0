"""The choice of parts and shards to rebuild: by keyed digests, evenly over sources and splits.

It depends only on the configuration and the seed. The auditor chooses the seed, so the producer of
the corpus cannot predict it.
"""

import hashlib
import itertools
from collections.abc import Iterable, Mapping


def chance(key: str, seed: int, name: str) -> bytes:
    """Return the digest of a part or shard; the smallest are chosen. key: digest of the
    configuration."""
    return hashlib.sha256(f"corpusmill/prove/{key}/{seed}/{name}".encode()).digest()


def evenly(members: Mapping[str, Iterable[int]], count: int, key: str, seed: int) -> list[int]:
    """Choose `count` members of groups, one of each group in turn.

    A part can be in several groups, but is chosen once.
    """
    turns = [
        sorted(set(found), key=lambda one: chance(key, seed, str(one)))
        for _, found in sorted(members.items(), key=lambda group: chance(key, seed, group[0]))
    ]
    most = min(count, len(set().union(*turns)))
    chosen: list[int] = []
    for turn in itertools.cycle(turns):
        if len(chosen) == most:
            break
        chosen += [one for one in turn if one not in chosen][:1]
    return chosen
