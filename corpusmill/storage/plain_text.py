"""Text of strangers for a terminal, a log or a page: nothing in it steers what shows it."""

import json
import logging
import unicodedata
from collections.abc import Callable

STEERING = ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp")
"""Categories of Unicode: controls, formats as the direction of writing, ends of lines."""
JOINERS = "\u200c\u200d"
"""Of letters and emoji, without which words of some languages are others."""
LINES = "\n\t"


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


def shown_json(text: str) -> str:
    """The same of JSON, which stays JSON."""
    return shown(text, LINES, lambda one: json.dumps(one)[1:-1])


class ShownLines(logging.Formatter):
    """Log lines that say nothing to a terminal but what stands there."""

    def format(self, record: logging.LogRecord) -> str:
        return shown_lines(super().format(record))
