"""How the band keys of all parts are shared among pair jobs."""

import math
from typing import NamedTuple


class Slice(NamedTuple):
    """One pair job's share: of every band from `first` to `last` the keys in [low, high)."""

    band: int
    low: int
    high: int  # 2**64 stands for the end


class Buckets(NamedTuple):
    """How the keys of all parts are shared: among so many jobs, each holding at once so many."""

    jobs: int
    entries: int


def bucket_slices(bucket: int, buckets: int, bands: int) -> list[Slice]:
    """The slices of bucket number `bucket` of `buckets`, which share bands x keys evenly.

    Together the buckets cover every (band, key) exactly once; few buckets hold several bands,
    many hold a range of keys of one.
    """
    whole = 1 << 64
    start, stop = bucket * bands * whole // buckets, (bucket + 1) * bands * whole // buckets
    slices = []
    while start < stop:
        band = start // whole
        end = min(stop, (band + 1) * whole)
        slices.append(Slice(band, start - band * whole, end - band * whole))
        start = end
    return slices


def halves(share: Slice) -> tuple[Slice, Slice]:
    """The lower and the upper half of a slice's keys."""
    middle = (share.low + share.high) // 2
    return share._replace(high=middle), share._replace(low=middle)


def bucket_count(documents: int, bands: int, bucket_entries: int) -> int:
    """How many pair jobs keep each at about bucket_entries band keys."""
    return max(1, math.ceil(documents * bands / bucket_entries))
