"""Rules of filters said plainly, a document and a list of words at a time."""

import math
import re
from collections import Counter
from collections.abc import Callable

BULLETS, ELLIPSES = ("•", "-"), ("...", "…")


def ratio(part: float, whole: float) -> float:
    if not whole:
        return math.inf if part else math.nan
    return part / whole


def gopher_quality(text: str, words: list[str], marks: set[str], stop_words: list[str]) -> dict:
    """marks: punctuation."""
    solid = [word for word in words if set(word) - marks]
    lines = text.splitlines()
    bullets = [line for line in lines if line.lstrip().startswith(BULLETS)]
    ellipses = [line for line in lines if line.rstrip().endswith(ELLIPSES)]
    return {
        "gopher_words": len(solid),
        "mean_word_chars": ratio(sum(map(len, solid)), len(solid)),
        "hash_ratio": ratio(text.count("#"), len(words)),
        "ellipsis_ratio": ratio(text.count("...") + text.count("…"), len(words)),
        "bullet_line_share": ratio(len(bullets), len(lines)),
        "ellipsis_line_share": ratio(len(ellipses), len(lines)),
        "alpha_word_share": ratio(sum(any(map(str.isalpha, word)) for word in words), len(words)),
        "stop_words_found": len(set(words) & set(stop_words)),
    }


def repeated(elements: list[str]) -> tuple[int, int]:
    """How many stood before, and their characters."""
    again = [one for place, one in enumerate(elements) if one in elements[:place]]
    return len(again), sum(map(len, again))


def gopher_repetition(text: str, words: list[str]) -> dict:
    paragraphs, lines = re.split(r"\n{2,}", text.strip()), re.split(r"\n+", text)
    found = {}
    for name, elements in (("paragraph", paragraphs), ("line", lines)):
        count, size = repeated(elements)
        found[f"repeated_{name}_share"] = count / len(elements)
        found[f"repeated_{name}_char_share"] = size / max(len(text), 1)
    for n in (2, 3, 4):
        grams = Counter(tuple(words[k : k + n]) for k in range(len(words) - n + 1))
        size = 0
        if grams:
            gram, often = grams.most_common(1)[0]
            size = len(" ".join(gram)) * often
        found[f"top_{n}_gram_share"] = size / max(len(text), 1)
    for n in range(5, 11):
        found[f"repeated_{n}_gram_share"] = duplicate_chars(words, n) / max(len(text), 1)
    return found


def duplicate_chars(words: list[str], n: int) -> int:
    seen, size, place = set(), 0, 0
    while place + n <= len(words):
        gram = tuple(words[place : place + n])
        if gram in seen:
            size += len("".join(gram))
            place += n
        else:
            seen.add(gram)
            place += 1
    return size


def fineweb_quality(text: str, words: list[str], ends: set[str], short: int) -> dict:
    """ends: characters that end a sentence."""
    lines = [line for line in text.split("\n") if line.strip()]
    return {
        "fineweb_lines": len(lines),
        "terminal_line_share": ratio(sum(line[-1] in ends for line in lines), len(lines)),
        "short_line_share": ratio(sum(len(line) <= short for line in lines), len(lines)),
        "repeated_char_share": ratio(repeated(lines)[1], len(text.replace("\n", ""))),
        "newline_ratio": ratio(text.count("\n"), len(words)),
    }


POLICIES = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies",
            "use cookies")  # fmt: skip


def c4_line(line: str, needs: dict) -> str | None:
    """Why a line, stripped, is cut; None if it stays."""
    words = line.split()
    if max(map(len, words), default=0) > needs["max_word_chars"]:
        return "long_word"
    line = without_citations(line) if needs["cuts_citations"] else line
    if needs["needs_end_mark"] and (not line.endswith(tuple(".?!\"'")) or line.endswith("...")):
        return "no_end_mark"
    if len(words) < needs["min_words_per_line"]:
        return "few_words"
    if needs["cuts_javascript"] and "javascript" in line.lower():
        return "javascript"
    if needs["cuts_policies"] and any(one in line.lower() for one in POLICIES):
        return "policy"
    return None


def without_citations(line: str) -> str:
    return re.sub(r"\[\d*]|\[edit]|\[citation needed]", "", line)


def c4(text: str, needs: dict, sentences: Callable[[str], int]) -> tuple[dict, list[str]]:
    """The values, and the lines that stay. sentences: how many a line has."""
    values = {"lorem_ipsum_lines": 0, "curly_lines": 0, "c4_sentences": 0}
    kept = []
    for line in map(str.strip, text.splitlines()):
        why = c4_line(line, needs)
        line = without_citations(line) if needs["cuts_citations"] else line
        if why in (None, "javascript", "policy"):
            values["lorem_ipsum_lines"] += "lorem ipsum" in line.lower()
            values["curly_lines"] += "{" in line and why != "javascript"
        if why is None:
            values["c4_sentences"] += sentences(line)
            kept.append(line)
    return values, kept
