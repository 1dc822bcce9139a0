"""Make untrusted text safe to show in a terminal, a log or a page."""

import json
import logging
import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

STEERING = ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp")
"""Unicode categories that are escaped: controls, writing direction, line ends, unassigned."""
JOINERS = "\u200c\u200d"
"""Characters that join letters or emoji. Without them, words of some languages change."""
LINES = "\n\t"
LONG_WORD = re.compile(r"(?<!\S)\S{1001,}")
KEPT_OF_WORD = 100
LONGEST_LINE, LONGEST_MESSAGE = 4000, 20_000
"""In characters."""


def _by_code(one: str) -> str:
    return one.encode("unicode_escape").decode()


def shown(text: str, keep: str = "", spelled: Callable[[str], str] = _by_code) -> str:
    r"""Escape characters that could steer a terminal, such as \x1b. keep: characters to leave."""
    if text.isprintable():
        return text
    return "".join(
        one if unicodedata.category(one) not in STEERING or one in JOINERS or one in keep
        else spelled(one)
        for one in text
    )  # fmt: skip


def shown_lines(text: str) -> str:
    """Escape a text of several lines; newlines and tabs stay."""
    return shown(text, LINES)


def told_lines(text: str) -> str:
    """Escape a message and shorten its overlong words and lines."""
    return short(shown_lines(text))


def shown_json(text: str) -> str:
    """Escape a JSON text so that it stays valid JSON."""
    return shown(text, LINES, lambda one: json.dumps(one)[1:-1])


def short(message: str) -> str:
    """Shorten overlong words, such as names and digests, and overlong lines of a message.

    A long line keeps its start and its end.
    """
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
    """Return a command's answer as strict JSON: NaN becomes null, infinity a string."""
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
    """A stream that escapes what is written to it and passes all else to the stream below."""

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
    """A log formatter that escapes control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return shown_lines(super().format(record))
