"""Change the mixture while a model is trained: from a state of one order to a state of another."""

from collections.abc import Iterator
from typing import Any

from corpusmill.reader.batches import STATE, VERSION, read_state
from corpusmill.reader.mixtures import Mixture
from corpusmill.reader.orders import Cursor, Order

Part = tuple[dict[str, Any], Cursor]
"""The identity of an order that is no mixture, and a place in it."""


def changed(state: dict[str, Any], order: Order) -> dict[str, Any]:
    """Return a state of `order` that goes on where `state`, of another order, stops.

    Every order that both mix keeps its place, so none of its samples is repeated or skipped. Orders
    that are new begin. Load the returned state as usual.
    """
    identity, cursor = read_state(state)
    try:
        left = [*parts_of(identity, cursor)]
        wanted = len(left)
        found = carried(order, left)
    except (ValueError, KeyError, TypeError) as fault:
        raise ValueError(
            f"state: expected a position in an order of samples, found {cursor!r:.200} "
            f"({fault}). Load a complete state, or start without a state."
        ) from None
    if len(left) == wanted:
        raise ValueError(
            "state: expected an order that the new order also mixes, found none. Was the state "
            "saved for another corpus, length or seed? Start without a state to begin anew."
        )
    return {STATE: VERSION, "order": order.identity, "cursor": found}


def carried(order: Order, left: list[Part]) -> Cursor:
    """Return the place in an order. left: the parts of the state; those that are found are taken
    out."""
    if isinstance(order, Mixture):
        return order.begin() | {"of": [carried(one, left) for one in order.orders]}
    for part in left:
        if part[0] == order.identity:
            order.check(part[1])
            left.remove(part)
            return part[1]
    return order.begin()


def parts_of(identity: dict[str, Any], cursor: Cursor) -> Iterator[Part]:
    """Yield the orders that are mixed; the order itself if it is no mixture."""
    if identity["order"] != "mixture":
        yield identity, cursor
        return
    for its_identity, its_cursor in zip(identity["of"], cursor["of"], strict=True):
        yield from parts_of(its_identity, its_cursor)
