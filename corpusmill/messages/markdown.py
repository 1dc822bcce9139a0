"""Markdown from foreign text: names, licences and addresses that must not change a page."""

import json
import re
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from corpusmill.messages.plain_text import shown

SPECIAL = r"\`*_{}[]<>()#|!~&$"
NOT_IN_LINK = re.compile(r"[^\w.~:/?#@!$&'()*+,;=%\[\]-]", re.ASCII)


def plain(text: object) -> str:
    """Escape a text for Markdown, inside a paragraph or a cell of a table."""
    return "".join(f"\\{one}" if one in SPECIAL else one for one in shown(str(text)))


def link(address: str) -> str:
    """Return an address as a link, with unsafe characters percent-encoded."""
    return f"<{NOT_IN_LINK.sub(lambda found: quote(found[0], errors='replace'), address)}>"


def quoted(text: str) -> str:
    """Return a text as a YAML string on one line."""
    return json.dumps(shown(text), ensure_ascii=False)


def table(heading: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> list[str]:
    """Return a table. texts: number of columns aligned to the left, as they hold text."""
    aligned = [*["---"] * texts, *["--:"] * (len(heading) - texts)]
    return ["| " + " | ".join(cells) + " |" for cells in [heading, aligned, *rows]]
