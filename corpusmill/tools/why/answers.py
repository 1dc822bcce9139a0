"""`corpusmill why`: the answer to a query, as text or as JSON."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from corpusmill.messages.plain_text import json_text
from corpusmill.messages.sentences import sentence
from corpusmill.mill.decide.fates import KEPT
from corpusmill.tools.why.comparison import Words, shared_words, side_by_side
from corpusmill.tools.why.facts import Facts
from corpusmill.tools.why.ledger import Ledger
from corpusmill.tools.why.queries import Found, Token, found_by, with_text
from corpusmill.tools.why.results import Results
from corpusmill.tools.why.samples import Wanted, sampled
from corpusmill.tools.why.story import counted, documents, line_of_list, story


class Asked(NamedTuple):
    """The arguments of the command."""

    queries: tuple[str, ...]
    text: str | None
    wanted: Wanted | None
    """Records to list; None: no list."""
    results: Path
    as_json: bool
    width: int
    readers: tuple[str, ...] = ()
    """The user's own readers of formats."""


def wanted_of(
    dropped: bool, fates: Sequence[str], sources: Sequence[str], count: int
) -> Wanted | None:
    """Return which records to list; None if no list is requested."""
    return Wanted(dropped, fates, sources, count) if dropped or fates or sources else None


def why(asked: Asked) -> Iterator[str]:
    """Yield the lines of the answer. Raise ValueError in one sentence if there is none."""
    results = Results(asked.results, asked.readers)
    ledger = Ledger(results)
    if asked.text is not None:
        yield from about_text(asked, results, ledger, asked.text)
    elif asked.wanted is not None:
        yield from listed(asked, results, ledger, asked.wanted)
    for number, query in enumerate(asked.queries):
        found = found_by(results, ledger, query)
        if asked.as_json:
            told = {"query": query, **known(found.facts), **token_known(found)}
            yield json_text(told, None)
        else:
            yield from [""] * bool(number)
            yield from in_words(found, asked.width)


def in_words(found: Found, width: int) -> Iterator[str]:
    if found.hit:
        yield found.hit
    if found.token is not None:
        _, (before, token, after) = around(found.facts.results, found.token)
        yield f"...{before}[{token}]{after}..."
    if found.hit:
        yield ""
    yield from story(found.facts, width)


def around(results: Results, token: Token) -> tuple[int, list[str]]:
    # Imported only here: a tokenizer takes longer than everything else.
    from corpusmill.tools.why.tokens_around import tokens_around

    return tokens_around(results, token)


def token_known(found: Found) -> dict[str, Any]:
    if found.token is None:
        return {}
    id, (before, token, after) = around(found.facts.results, found.token)
    where = found.token._asdict()
    return {"token": {**where, "id": id, "before": before, "text": token, "after": after}}


def about_text(asked: Asked, results: Results, ledger: Ledger, text: str) -> Iterator[str]:
    found, count = with_text(results, ledger, text)
    if not found:
        yield from about_similar(asked, results, ledger, text)
        return
    # The first question is whether the text is in the corpus.
    best = next((one for one in found if one.fate == KEPT), found[0])
    if asked.as_json:
        ids = [one.id for one in found]
        yield json_text({"documents": count, "ids": ids, **known(best)}, None)
        return
    ids = [one.id for one in found]
    have = "has" if count == 1 else "have"
    yield f"{counted(count, 'document')} {have} exactly this text: {documents(ids, count)}."
    yield ""
    yield from story(best, asked.width)


def about_similar(asked: Asked, results: Results, ledger: Ledger, text: str) -> Iterator[str]:
    from corpusmill.tools.why.nearest import nearest

    try:
        near = nearest(results, text)
    except ValueError as error:
        raise ValueError(sentence(f"no document has exactly this text, and {error}")) from error
    if not near:
        raise ValueError("no document has exactly this text, and the sketches show no similar one.")
    found = [(Facts(results, ledger, ledger.of_id(one.id)), one.similarity) for one in near]
    if asked.as_json:
        similar = [{"estimate": s, "record": f.row} for f, s in found]
        yield json_text({"documents": 0, "similar": similar}, None)
        return
    yield (
        "No document has exactly this text. The most similar ones, by share of equal sketch values:"
    )
    yield ""
    yield from table([[f"{share:.3f}", *line_of_list(facts)] for facts, share in found])
    best = found[0][0]
    if best.text.text is not None:
        yield ""
        heads = "your text", f"document {best.id}"
        yield from side_by_side(heads, (text, best.text.text), asked.width)


def listed(asked: Asked, results: Results, ledger: Ledger, wanted: Wanted) -> Iterator[str]:
    found, count = sampled(results, ledger, wanted)
    if asked.as_json:
        yield from (json_text(one.row, None) for one in found)
        return
    if found:
        yield from table([line_of_list(one) for one in found])
        yield ""
    which = f"{len(found):,} of {counted(count, 'record')}"
    yield f"{which}, evenly spaced." if len(found) < count else f"{which}, all of them."


def table(rows: list[list[str]]) -> list[str]:
    """Align cells in columns; the last one keeps its length."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def known(facts: Facts) -> dict[str, Any]:
    """Return everything known of a document, for JSON."""
    told: dict[str, Any] = {"record": facts.row}
    if not facts.is_document:
        return told | {"quarantined": facts.quarantined}
    ids, count = facts.dropped_for_it
    told |= {
        "measured": facts.measured,
        "copies": [copy._asdict() for copy in facts.copies],
        "pieces": [piece._asdict() for piece in facts.pieces],
        "dropped_for_it": {"documents": count, "ids": ids},
        "text": {"from": facts.text.where, "begins": (facts.text.text or "")[:200]},
    }
    if facts.winner is not None:
        told["winner"] = facts.winner.row
        told["comes_first"] = facts.winner.comes_first_because(facts)
        if facts.text.text is not None and facts.winner.text.text is not None:
            both = Words.of(facts.text.text), Words.of(facts.winner.text.text)
            told["words"] = shared_words(*both)._asdict()
    if facts.equals is not None:
        told["equals"] = facts.equals.row
    return told
