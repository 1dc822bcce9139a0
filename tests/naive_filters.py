"""Rules of filters said plainly, a document and a list of words at a time."""

import json
import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable
from urllib.parse import urlsplit

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


def lengths(text: str, words: list[str]) -> dict:
    lines = [line for line in text.split("\n") if line.strip()]
    return {
        "all_words": len(words),
        "all_chars": len(text),
        "solid_lines": len(lines),
        "mean_line_chars": ratio(sum(map(len, lines)), len(lines)),
    }


def char_shares(text: str) -> dict:
    tests = {
        "letter_share": str.isalpha,
        "digit_share": str.isdecimal,
        "upper_share": str.isupper,
        "punctuation_share": lambda one: unicodedata.category(one).startswith("P"),
        "symbol_share": lambda one: unicodedata.category(one).startswith("S"),
        "whitespace_share": str.isspace,
        "non_ascii_share": lambda one: ord(one) > 127,
    }
    return {name: ratio(sum(map(test, text)), len(text)) for name, test in tests.items()}


def metadata_drops(record: dict, field: str, given: dict) -> str | None:
    """The setting that drops a record; given: those of the filter. Scalars that are no texts stand
    in the record as `json.dumps` writes them."""
    member = record
    for name in field.split("."):
        member = member.get(name) if isinstance(member, dict) else None
    if member is None:
        return "missing" if given["missing"] == "drop" else None
    whole = "{}" if isinstance(member, dict) else "[]" if isinstance(member, list) else None
    text = member if isinstance(member, str) else whole or json.dumps(member)
    drops = {
        "one_of": lambda listed: text not in listed,
        "none_of": lambda listed: text in listed,
        "first": lambda least: text < least,
        "last": lambda most: text > most,
        "matches": lambda pattern: not re.search(pattern, text),
    }
    return next((name for name, test in drops.items() if name in given and test(given[name])), None)


def phrases_in(text: str, phrases: list[str], boundaries: bool) -> list[str]:
    """One behind the other; of several that begin at a place the longest."""
    longest_first = sorted({one.lower() for one in phrases}, key=lambda one: -len(one.encode()))
    pattern = "|".join(map(re.escape, longest_first))
    if boundaries:
        pattern = rf"(?<!\w)(?:{pattern})(?!\w)"
    return re.findall(pattern, text.lower())


def url_hits(url: str, lists: dict[str, list[str]]) -> tuple[str | None, int]:
    """The list that has a URL with a scheme, and how many soft words it has."""
    host = urlsplit(url).hostname or ""
    words = set(re.split(r"[\W_]+", url.lower()))
    squeezed = re.sub(r"[\W_]+", "", url.lower())
    hits = {
        "domains": any(host == one or host.endswith(f".{one}") for one in lists["domains"]),
        "urls": url in lists["urls"],
        "words": bool(words & set(lists["words"])),
        "subwords": any(re.sub(r"[\W_]+", "", one) in squeezed for one in lists["subwords"]),
    }
    hard = next((name for name, hit in hits.items() if hit), None)
    return hard, len(words & set(lists["soft_words"]))


def copied(segments: list[str]) -> tuple[float, float]:
    """Shares of segments that are there twice, and of their characters."""
    twice = [one for one in segments if segments.count(one) > 1]
    chars = sum(map(len, segments))
    return ratio(len(twice), len(segments)), ratio(sum(map(len, twice)), chars)


def grams_of(words: list[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]


def top_gram_share(words: list[str], n: int, longest: bool) -> float:
    counted = Counter(grams_of(words, n))
    most = max(counted.values(), default=0)
    if most <= 1:
        return 0.0
    sizes = [len("".join(gram)) for gram, often in counted.items() if often == most]
    return (max(sizes) if longest else sizes[0]) * most / len("".join(words))


def copied_gram_share(words: list[str], n: int) -> float:
    grams = grams_of(words, n)
    twice = [place for place, gram in enumerate(grams) if grams.count(gram) > 1]
    covered = {place + k for place in twice for k in range(n)}
    return sum(len(words[place]) for place in covered) / max(len("".join(words)), 1)


def dclm(text: str, words: list[str]) -> dict:
    """words: those of the unicode rule."""
    solid = [word for word in words if any(one.isalpha() or one.isdecimal() for one in word)]
    plain = text.split()
    lines = [one.strip() for one in text.split("\n") if one.strip()]
    paragraphs = [one.strip() for one in text.split("\n\n") if one.strip()]
    stop_words = {"the", "be", "to", "of", "and", "that", "have", "with"}
    found = {
        "dclm_words": len(solid),
        "dclm_mean_word_chars": ratio(sum(map(len, plain)), len(plain)),
        "dclm_symbol_ratio": ratio(sum(map(text.count, ["#", "...", ". . .", "…"])), len(plain)),
        "dclm_bullet_line_share": ratio(sum(one[0] in "●•*-" for one in lines), len(lines)),
        "dclm_ellipsis_line_share": ratio(
            sum(one.endswith(("...", ". . .", "…")) for one in lines), len(lines)
        ),
        "dclm_no_alpha_word_share": ratio(
            sum(not any(map(str.isalpha, one)) for one in plain), len(plain)
        ),
        "dclm_stop_words": sum(one.lower() in stop_words for one in plain),
    }
    for name, segments in (("line", lines), ("paragraph", paragraphs)):
        share, char_share = copied(segments)
        found |= {f"dclm_copied_{name}_share": share, f"dclm_copied_{name}_char_share": char_share}
    found |= {f"dclm_top_{n}_gram_share": top_gram_share(solid, n, True) for n in (2, 3, 4)}
    return found | {
        f"dclm_copied_{n}_gram_share": copied_gram_share(solid, n) for n in range(5, 11)
    }


NAN = math.nan


def rps_normalized(text: str) -> str:
    text = text.translate(str.maketrans("", "", string.punctuation)).lower()
    return unicodedata.normalize("NFD", re.sub(r"\s+", " ", text.strip()))


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else NAN


def redpajama_signals(text: str, stop_words: list[str]) -> dict:
    raw, clean = re.findall(r"\w+|[^\w\s]+", text), rps_normalized(text)
    words = clean.split()
    shares = [often / len(words) for often in Counter(words).values()]
    found = {
        "rps_doc_num_sentences": len(re.findall(r"\b[^.!?]+[.!?]*", text)),
        "rps_doc_word_count": len(words),
        "rps_doc_mean_word_length": mean([len(one) for one in words]),
        "rps_doc_symbol_to_word_ratio": ratio(sum(map(text.count, ["#", "...", "…"])), len(raw)),
        "rps_doc_frac_no_alph_words": mean([not re.search("[a-zA-Z]", one) for one in raw]),
        "rps_doc_frac_unique_words": ratio(len(set(words)), len(words)),
        "rps_doc_unigram_entropy": sum(-x * math.log(x) for x in shares) if words else NAN,
        "rps_doc_frac_all_caps_words": mean([one.isupper() for one in raw]),
        "rps_doc_stop_word_fraction": mean([one in stop_words for one in raw]) if words else 0,
        "rps_doc_lorem_ipsum": clean.count("lorem ipsum") / max(len(clean), 1),
        "rps_doc_curly_bracket": (text.count("{") + text.count("}")) / max(len(text), 1),
    }
    for n in (2, 3, 4):
        found[f"rps_doc_frac_chars_top_{n}gram"] = top_gram_share(words, n, False)
    for n in range(5, 11):
        found[f"rps_doc_frac_chars_dupe_{n}grams"] = copied_gram_share(words, n)
    return found | redpajama_line_signals(re.findall(r"[^\n]*\n|[^\n]+$", text))


def redpajama_line_signals(lines: list[str]) -> dict:
    clean = list(map(rps_normalized, lines))
    stripped = [one.strip() for one in lines]
    numeric = [sum(map(str.isnumeric, one)) for one in clean]
    return {
        "rps_doc_frac_lines_end_with_ellipsis": mean(
            [one.endswith(("...", "…")) for one in stripped]
        ),
        "rps_lines_javascript_counts": mean([one.split().count("javascript") for one in clean]),
        "rps_lines_ending_with_terminal_punctution_mark": mean(
            [one.endswith((".", "!", "?", "”")) for one in stripped]
        ),
        "rps_lines_num_words": mean([len(one.split()) for one in clean]),
        "rps_lines_uppercase_letter_fraction": mean(
            [sum(map(str.isupper, one)) / len(one) for one in lines]
        ),
        "rps_lines_numerical_chars_fraction": mean(
            [often / len(one) for often, one in zip(numeric, lines, strict=True)]
        ),
        "rps_lines_start_with_bulletpoint": mean(
            [one.startswith(tuple("•‣▶◀◦■□▪▫–")) for one in stripped]
        ),
    }


POLICIES = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies",
            "use cookies")  # fmt: skip


def c4_line(line: str, needs: dict) -> str | None:
    """Why a line, stripped, is cut; None if it stays."""
    words = line.split()
    if max(map(len, words), default=0) > needs["max_word_chars"]:
        return "long_word"
    line = without_citations(line) if needs["cuts_citations"] else line
    no_mark = not line.endswith(tuple(needs["end_marks"])) or line.endswith("...")
    if needs["needs_end_mark"] and no_mark:
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
    long = [line for line in text.split("\n") if len(line) >= needs["paragraph_chars"]]
    values = {"lorem_ipsum_lines": 0, "curly_lines": 0, "c4_sentences": 0}
    values["c4_paragraphs"] = len(long)
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


COUNTER = re.compile(
    r"\W*\d[,.\d]*[kmb]?\s+(likes|shares|comments|retweets|reposts|quotes|bookmarks|upvotes|"
    r"downvotes|downloads|views|followers)\W*"
)
OF_DCLM = (r"\s?items in cart", r"\s?read more...$", r"^sign-in\s?")


def any_case(pattern: str) -> str:
    """Of letters of ASCII alone."""
    return re.sub("(?<!\\\\)[a-z]", lambda one: f"[{one[0]}{one[0].upper()}]", pattern)


def dclm_line(line: str, needs: dict) -> str | None:
    """What is left of a line; None if it goes."""
    if line == "":
        return line
    small = "".join(one.lower() if one.isascii() else one for one in line)
    words = len(line.split())
    if (
        sum(map(str.isupper, line)) / len(line) > needs["max_line_upper_share"]
        or sum(map(str.isdecimal, line)) / len(line) > needs["max_line_digit_share"]
        or (needs["cuts_counters"] and COUNTER.fullmatch(small))
        or words < needs["min_words_per_line"]
    ):
        return None
    left = line
    if words <= needs["max_phrase_words"]:
        for pattern in OF_DCLM:
            left = re.sub(any_case(pattern), "", left)
    return None if left != line and not left.strip() else left


def dclm_lines(text: str, needs: dict) -> tuple[float, str]:
    """The share of words that go, and the text that stays."""
    most = needs["max_newlines"]
    squeezed = re.sub("\n" * (most + 1) + "+", "\n" * most, text)
    lines = [dclm_line(line, needs) for line in squeezed.split("\n")]
    left = "\n".join(line for line in lines if line is not None).strip()
    before, after = (
        sum(word[0].isalpha() or word[0].isdecimal() for word in one.split())
        for one in (text, left)
    )
    return ratio(before - after, before), left
