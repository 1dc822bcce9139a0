"""Documents near a limit, on the page: as they are, but for what is not seen or would do harm."""

import unicodedata
from html import escape

from corpusmill.tools.tune.calibrate.examples import Example
from corpusmill.tools.tune.calibrate.measured import Rule
from corpusmill.tools.tune.calibrate.words import number

JOINERS = "\u200c\u200d"
"""Formatting characters without which words of Persian and pictures are others."""


def visible(text: str) -> str:
    """HTML in which control and formatting characters are seen, and so do nothing: those that
    turn the direction of writing for one."""
    pieces = []
    for character in text:
        if character == "\n":
            pieces.append("<span>↵</span>\n")
        elif character in JOINERS or unicodedata.category(character)[0] not in "CZ":
            pieces.append(escape(character))
        elif character == " " or unicodedata.category(character) == "Zs":
            pieces.append(character)
        elif character == "\t":
            pieces.append("<span>→</span>\t")
        else:
            pieces.append(f"<span>[U+{ord(character):04X}]</span>")
    return "".join(pieces)


def excerpt(text: str, label: str) -> str:
    """It has the direction of its first letter."""
    return f'<pre dir="auto" tabindex="0" aria-label="{label}">{visible(text)}</pre>\n'


def _example(one: Example) -> str:
    kind = "dropped" if one.dropped else "kept"
    said = "" if one.value is None else one.value
    if not isinstance(said, str):
        said = f"{number(said, 6)}, limit {number(one.bound, 6)}"
    facts = f"<b>{kind}</b> {visible(said)} · <bdi>{escape(one.source)}</bdi>"
    place = f"<bdi>{escape(one.place)}</bdi> · {one.chars:,} characters"
    middle = f"<p>… from the middle:</p>{excerpt(one.middle, 'from the middle')}"
    return (
        f'<article class="{kind}"><p>{facts} · {place}</p>\n'
        f"{excerpt(one.start, 'the beginning')}{middle if one.middle else ''}</article>\n"
    )


def examples_block(rule: Rule, examples: list[Example]) -> str:
    """Behind a line that opens it; nothing without examples."""
    if not examples:
        return ""
    dropped = sum(one.dropped for one in examples)
    kept = len(examples) - dropped
    told = f"{dropped} dropped, {kept} kept" if kept or rule.has_threshold else f"{dropped} dropped"
    near = f" nearest to {escape(rule.name)}" if rule.has_threshold else ""
    return (
        f"<details><summary>Documents{near}: {told}</summary>\n"
        f"{''.join(map(_example, examples))}</details>\n"
    )
