"""The costs of a publication: bytes and requests, and money if prices are given."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from corpusmill.tools.publish.contents import Contents
from corpusmill.tools.publish.sending import part_count

PRICES = {
    "month": "a GB for a month",
    "read": "a GB that leaves the store",
    "writes": "1,000 requests that write or list",
    "reads": "1,000 requests that read",
}
"""Items that can have a price. There are no defaults, because stores, regions and contracts
differ."""
GB = 1e9


class Costs(NamedTuple):
    """Costs. writes: requests to send what is missing; reads: requests of one full read."""

    bytes: int
    writes: int
    reads: int
    money: dict[str, float]


def prices_of(given: tuple[str, ...]) -> dict[str, float]:
    """Parse `name=number`. Raise ValueError if malformed."""
    prices = {}
    for text in given:
        name, _, number = text.partition("=")
        try:
            prices[name] = float(number)
            known = name in PRICES and 0 <= prices[name] < float("inf")
        except ValueError:
            known = False
        if not known:
            raise ValueError(
                f"--price {text}: expected one of {', '.join(PRICES)}, an equals sign and a number "
                "of at least 0, such as month=0.023."
            )
    return prices


def costs_of(contents: Contents, there: set[str], prices: Mapping[str, float]) -> Costs:
    """Return the costs. there: names of files that need not be sent."""
    missing = [file for file in contents.files if file.name not in there]
    # Multipart: the parts, one request to begin and one to complete. Besides the files: claim,
    # manifest, latest and some lists.
    in_parts = [part_count(file.bytes) for file in missing]
    writes = sum(parts + 2 if parts else 1 for parts in in_parts) + 8
    reads = len(contents.files) + 2
    size = contents.bytes / GB
    money = {}
    if "month" in prices:
        money["per_month"] = size * prices["month"]
    if "writes" in prices:
        money["to_send"] = writes / 1000 * prices["writes"]
    if {"read", "reads"} & prices.keys():
        of_requests = reads / 1000 * prices.get("reads", 0)
        money["per_full_read"] = size * prices.get("read", 0) + of_requests
    return Costs(contents.bytes, writes, reads, money)


def in_words(costs: Costs, prices: Mapping[str, float]) -> Iterator[str]:
    yield (
        f"{costs.bytes / GB:,.3f} GB to store; about {costs.writes:,} requests to upload "
        f"the missing files, {costs.reads:,} requests for a full read"
    )
    said = {"per_month": "a month", "to_send": "to send it", "per_full_read": "a full read"}
    if costs.money:
        rough = ", ".join(f"{costs.money[name]:,.4f} {said[name]}" for name in costs.money)
        stated = "; ".join(f"{prices[name]:g} for {PRICES[name]}" for name in prices)
        yield f"roughly {rough}, in the currency of your prices: {stated}"
    else:
        yield "no prices are given (--price), so no costs are computed"
