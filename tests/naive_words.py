"""English words as spaCy's tokenizer finds them, by regular expressions: slow, and plainly so."""

import functools
import re

from corpusmill.mill.filters.features import english_words as english


def one_of(characters) -> str:
    """A class of these, as ranges."""
    points = set(map(ord, characters))
    starts = sorted(one for one in points if one - 1 not in points)
    ends = sorted(one for one in points if one + 1 not in points)
    ranges = (rf"\U{a:08x}-\U{b:08x}" for a, b in zip(starts, ends, strict=True))
    return f"[{''.join(ranges)}]"


@functools.cache
def rules() -> dict[str, re.Pattern]:
    letters, small, capital = map(one_of, english.letters())
    quotes, icons = one_of(english.QUOTES), one_of(english.icons())
    marks = one_of(english.PUNCTUATION)
    currency = rf"(?:US\$|C\$|A\$|{one_of(english.CURRENCIES)})"
    units = "|".join(map(re.escape, sorted(english.UNITS)))
    host = r"[A-Za-z0-9\u00a1-\uffff]"
    octet = r"(?:1?\d{1,2}|2[0-4]\d|25[0-5])"
    private = r"(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})"
    private += r"(?!172\.(?:1[6-9]|2\d|3[0-1])(?:\.\d{1,3}){2})"
    address = rf"{private}(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.{octet}){{2}}"
    address += r"(?:\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4]))"
    name = rf"(?:(?:{host}(?:{host}|[_-]){{0,62}})?{host}\.)+{small}{{2,63}}"
    behind = [
        marks, "……", r"\.\.+", quotes, icons, "['’][sS]", one_of(english.CUT_BEHIND),
        r"(?<=[0-9])\+", rf"(?<=[0-9]){currency}", rf"(?<=[0-9])(?:{units})",
        r"(?<=°[FfCcKk])\.", r"(?<=[0-9%²\-+|(?:)])\.", rf"(?<={small})\.", rf"(?<={marks})\.",
        rf"(?<={quotes})\.", rf"(?<={capital}{capital})\.",
    ]  # fmt: skip
    inside = [
        r"\.\.+", "…", icons, r"(?<=[0-9])[+\-*^](?=[0-9-])",
        rf"(?:(?<={small})|(?<={quotes}))\.(?={capital}|{quotes})",
        rf"(?<={letters}),(?={letters})",
        rf"(?:(?<={letters})|(?<=[0-9]))(?:-|–|—|--|---|——|~|[:<>=/])(?={letters})",
    ]  # fmt: skip
    front = rf"{marks}|{quotes}|{icons}|[{english.CUT_IN_FRONT}]|\+(?![0-9])|\.\.+|{currency}"
    url = rf"(?:[\w+\-.]{{2,}}://)?(?:\S+@)?(?:{address}|{name})(?::[0-9]{{2,5}})?(?:[/?#]\S*)?"
    return {
        "front": re.compile(front),
        "behind": re.compile("|".join(f"(?:{one})$" for one in behind)),
        "inside": re.compile("|".join(inside)),
        "url": re.compile(url, re.ASCII),
    }


def cut_inside(span: str) -> list[str]:
    pieces, start = [], 0
    for match in rules()["inside"].finditer(span):
        if match.start() > 0:
            pieces += [span[start : match.start()], match[0]]
            start = match.end()
    return [piece for piece in [*pieces, span[start:]] if piece]


def parted(span: str, listed: dict[str, list[str]]) -> list[str]:
    """What stands between white space."""
    in_front: list[str] = []
    behind: list[str] = []
    while span and span not in listed:
        front = match[0] if (match := rules()["front"].match(span)) else ""
        if front and span[len(front) :] in listed:
            in_front.append(front)
            span = span[len(front) :]
            break
        back = match[0] if (match := rules()["behind"].search(span[len(front) :])) else ""
        if back and span[: -len(back)] in listed:
            behind.append(back)
            span = span[: -len(back)]
            break
        if not front and not back:
            break
        span = span[len(front) : len(span) - len(back)]
        in_front += [front] * bool(front)
        behind += [back] * bool(back)
    if span in listed:
        middle = listed[span]
    else:
        middle = [span] if rules()["url"].fullmatch(span) else cut_inside(span)
    return [*in_front, *middle, *reversed(behind)]


@functools.cache
def joined_words() -> dict[tuple[str, ...], list[str]]:
    """Pieces of listed words -> what they are together."""
    found = {}
    for word, pieces in english.listed_words().items():
        met = tuple(parted(word, {}))
        if len(met) >= max(2, len(pieces)):
            found[met] = pieces
    return found


def english_words(text: str) -> list[str]:
    listed, joined, found = english.listed_words(), joined_words(), []
    for span in text.split():
        pieces = parted(span, listed)
        while pieces:
            sizes = range(min(len(pieces), 11), 1, -1)
            size = next((n for n in sizes if tuple(pieces[:n]) in joined), 1)
            found += joined.get(tuple(pieces[:size]), pieces[:1])
            pieces = pieces[size:]
    return [word for word in found if word]
