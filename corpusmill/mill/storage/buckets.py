"""Divide the band keys of all parts among pair jobs."""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Slice(NamedTuple):
    """One pair job's share of a band: the keys in [low, high)."""

    band: int
    low: int
    high: int  # 2**64 stands for the end


class Buckets(NamedTuple):
    """The division of keys: number of jobs, and entries that each job holds at once."""

    jobs: int
    entries: int


def bucket_slices(bucket: int, buckets: int, bands: int) -> list[Slice]:
    """Return the slices of bucket number `bucket` of `buckets`, which share bands x keys evenly.

    Together the buckets cover every (band, key) exactly once. With few buckets, each holds several
    bands; with many, each holds a range of one band's keys.
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


def bounded_slices(share: Slice, most: int, count: Callable[[Slice], int]) -> Iterator[Slice]:
    """Yield the slice in pieces of at most `most` entries. A single key is never split.

    count: returns the number of entries in a slice.
    """
    if share.high - share.low > 1 and count(share) > most:
        middle = (share.low + share.high) // 2
        for half in (share._replace(high=middle), share._replace(low=middle)):
            yield from bounded_slices(half, most, count)
    else:
        yield share


def bucket_count(documents: int, bands: int, bucket_entries: int) -> int:
    """Return the number of pair jobs that gives each about bucket_entries band keys."""
    return max(1, math.ceil(documents * bands / bucket_entries))
