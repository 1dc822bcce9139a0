"""The modes of `normalize`."""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterator

import numpy as np

PIECE_CHARS = 1 << 20

LONG_RUN = 64
"""Minimum length of a run of combining marks that `in_order` sorts. Python sorts marks by
insertion, so a record that consists only of marks would take days."""

LAST_MARK = 0x1FFFF
"""ASSUME that no code point beyond this one has a combining class. Runs of such marks would be slow
again."""

SEGMENT_CHARS = 1_000_000
"""Maximum number of characters of a line that ftfy repairs at once."""

MOST_PASSES = 20
"""Maximum number of passes of ftfy's fixes over a segment. Each pass undoes one level of escaping,
and `&amp;amp;amp;...` may have any number of levels."""

ASCII = re.compile(r"[\x00-\x7f]")


def nfc(text: str) -> str:
    """Return the text in canonical composition (NFC), otherwise unchanged."""
    if text.isascii():
        return text
    if len(text) > PIECE_CHARS:
        # Python needs several times four bytes per character to compose a text, even to find that
        # nothing changes.
        if all(unicodedata.is_normalized("NFC", piece) for piece in pieces_to_compose(text)):
            return text
        return "".join(map(_composed, pieces_to_compose(text)))
    return _composed(text)


def _composed(text: str) -> str:
    if unicodedata.is_normalized("NFC", text):
        return text
    return unicodedata.normalize("NFC", in_order(text))


def in_order(text: str) -> str:
    """Return a canonically equivalent text with long runs of combining marks sorted."""
    return _long_runs().sub(lambda run: _sorted_marks(run[0]), text)


@functools.cache
def _long_runs() -> re.Pattern[str]:
    marks = "".join(
        mark
        for mark in map(chr, range(LAST_MARK + 1))
        if unicodedata.combining(unicodedata.normalize("NFD", mark)[0])
    )
    return re.compile(f"(?<![{marks}])[{marks}]{{{LONG_RUN},}}")


def _sorted_marks(run: str) -> str:
    """Decompose marks and sort them by combining class; the sort is stable."""
    changed: dict[str, str | int | None] = {
        mark: parts for mark in set(run) if (parts := unicodedata.normalize("NFD", mark)) != mark
    }
    if changed:
        run = run.translate(str.maketrans(changed))
    table = np.zeros(LAST_MARK + 1, np.uint8)
    for mark in set(run):
        table[ord(mark)] = unicodedata.combining(mark)
    points = np.frombuffer(run.encode("utf-32-le"), "<u4")
    classes = table[points]
    assert classes.all(), f"a starter among marks: {run[:LONG_RUN]!r}"
    # argsort would take eight bytes per mark; there are only some fifty classes.
    found = [points[classes == one] for one in np.unique(table) if one]
    return np.concatenate(found).tobytes().decode("utf-32-le")


def pieces_to_compose(text: str) -> Iterator[str]:
    """Yield pieces of PIECE_CHARS characters or slightly more. Each cut is before an ASCII
    character, because these never compose with what precedes them."""
    start = 0
    while start < len(text):
        cut = ASCII.search(text, start + PIECE_CHARS)
        end = cut.start() if cut else len(text)
        yield text[start:end]
        start = end


def unchanged(text: str) -> str:
    return text


def mended(text: str) -> str:
    """Return the result of `ftfy.fix_text` with normalization="NFC", in bounded time. ftfy itself
    has Python compose the text, and repeats until nothing changes."""
    from ftfy import fixes

    found: list[str] = []
    start, is_escaped = 0, True
    while start < len(text):
        end = text.find("\n", start, start + SEGMENT_CHARS) + 1 or start + SEGMENT_CHARS
        segment = text[start:end]
        # After a `<`, the text counts as HTML or about HTML. Nothing more is unescaped.
        is_escaped = is_escaped and "<" not in segment
        for _ in range(MOST_PASSES):
            before = segment
            segment = _mended_once(fixes.unescape_html(segment) if is_escaped else segment)
            if segment == before:
                break
        found.append(segment)
        start = end
    return "".join(found)


def _mended_once(segment: str) -> str:
    from ftfy import fix_encoding, fixes

    for fix in (
        fix_encoding, fixes.fix_c1_controls, fixes.fix_latin_ligatures, fixes.fix_character_width,
        fixes.uncurl_quotes, fixes.fix_line_breaks, fixes.fix_surrogates,
        fixes.remove_terminal_escapes, fixes.remove_control_chars, nfc,
    ):  # fmt: skip
        segment = fix(segment)
    return segment


def normalizer(mode: str) -> Callable[[str], str]:
    """Return the function of a mode: nfc, ftfy (as in the SlimPajama scripts) or none."""
    return {"nfc": nfc, "ftfy": mended, "none": unchanged}[mode]
