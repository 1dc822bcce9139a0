"""Which parts and shards are made again: by keyed digests, evenly over sources and splits.

A function of the configuration and the seed: who signs chooses the seed, and who mills cannot know
it before.
"""

import hashlib
import itertools
from collections.abc import Iterable, Mapping


def chance(key: str, seed: int, name: str) -> bytes:
    """Of a part or a shard; the least are chosen. key: the digest of the configuration."""
    return hashlib.sha256(f"corpusmill/prove/{key}/{seed}/{name}".encode()).digest()


def evenly(members: Mapping[str, Iterable[int]], count: int, key: str, seed: int) -> list[int]:
    """So many of the members of some groups: one of each group in turn, until there are enough.

    A part can be of several groups, and is chosen once.
    """
    turns = [
        sorted(set(found), key=lambda one: chance(key, seed, str(one)))
        for _, found in sorted(members.items(), key=lambda group: chance(key, seed, group[0]))
    ]
    chosen: dict[int, None] = {}
    for turn in itertools.cycle(turns) if turns else ():
        left = [one for one in turn if one not in chosen]
        if left and len(chosen) < count:
            chosen[left[0]] = None
        elif len(chosen) >= count or all(one in chosen for group in turns for one in group):
            break
    return list(chosen)
