"""Text of strangers for a terminal, a log or a page: nothing in it steers what shows it."""

import json
import logging
import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

STEERING = ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp")
"""Categories of Unicode: controls, formats as the direction of writing, ends of lines."""
JOINERS = "\u200c\u200d"
"""They join letters and emoji. Without them, words of some languages change."""
LINES = "\n\t"
LONG_WORD = re.compile(r"\S{1001,}")
KEPT_OF_WORD = 100
LONGEST_LINE, LONGEST_MESSAGE = 4000, 20_000
"""In characters."""


def _by_code(one: str) -> str:
    return one.encode("unicode_escape").decode()


def shown(text: str, keep: str = "", spelled: Callable[[str], str] = _by_code) -> str:
    r"""The text with every character that steers written out, as \x1b. keep: those to leave."""
    if text.isprintable():
        return text
    return "".join(
        one if unicodedata.category(one) not in STEERING or one in JOINERS or one in keep
        else spelled(one)
        for one in text
    )  # fmt: skip


def shown_lines(text: str) -> str:
    """The same of a text of several lines."""
    return shown(text, LINES)


def told_lines(text: str) -> str:
    """The same of a message, with what is too long in it cut."""
    return short(shown_lines(text))


def shown_json(text: str) -> str:
    """The same of JSON, which stays JSON."""
    return shown(text, LINES, lambda one: json.dumps(one)[1:-1])


def short(message: str) -> str:
    """A message with what is too long in it cut: words, which names and digests are, and lines.

    Of a line the start and the end stay."""
    words = LONG_WORD.sub(lambda found: _cut(found[0], KEPT_OF_WORD), message)
    cut = "\n".join(
        line if len(line) <= LONGEST_LINE
        else f"{line[:LONGEST_LINE // 2]} [...] {line[-LONGEST_LINE // 4:]}"
        for line in words.split("\n")
    )  # fmt: skip
    return _cut(cut, LONGEST_MESSAGE)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def json_text(value: Any, indent: int | None = 1) -> str:
    """A command's answer as JSON that every program reads: what is no number is null, what is
    infinite is said in words."""
    return json.dumps(without_nan(value), indent=indent, ensure_ascii=False, allow_nan=False)


def without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nan(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


class ShownStream:
    """A stream to which a stranger writes: what steers is written out, all else is the stream's."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(shown_lines(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class ShownLines(logging.Formatter):
    """Log lines that say nothing to a terminal but what stands there."""

    def format(self, record: logging.LogRecord) -> str:
        return shown_lines(super().format(record))
