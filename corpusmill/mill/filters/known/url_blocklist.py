"""Documents from where one wants none: lists of domains, URLs and words of URLs."""

import re
from collections.abc import Callable

from corpusmill.mill.filters.declaration import (
    Filter,
    Value,
    count,
    keep_or_drop,
    member,
    optional_file,
)

LABEL = r"(?:[A-Za-z0-9_-]|(?=[^\x00-\x7f])\S)+"
DOMAIN = re.compile(rf"{LABEL}(\.{LABEL})*\.?")
EXPECTED = {
    "domains": (DOMAIN, "a domain such as example.org, no scheme, path or port"),
    "urls": (re.compile(r"\S+"), "a URL without white space"),
    "words": (re.compile(r"[^\W_]+"), "a word of letters and digits"),
    "soft_words": (re.compile(r"[^\W_]+"), "a word of letters and digits"),
    "subwords": (re.compile(r".*[^\W_].*"), "a part of a word, with a letter or digit"),
}
"""What a line of each list has to be."""


class UrlBlocklist(Filter):
    """Documents whose URL a list of yours has: its host or a domain that it is in; the URL, exactly
    as it is; a word of it, which is what stands between characters that are no letters or digits;
    several soft words; a part of a word, anywhere in its letters and digits. Upper and lower case
    are alike, but in whole URLs. A list is a file, UTF-8, one entry a line, # comments, plain, .gz
    or .zst. Lists of domains, URLs and words take 8 bytes an entry.
    Stricter than datatrove's URLFilter: a listed domain drops all within it, where datatrove asks
    for the host and its registered domain alone; hosts and words are compared without case, where
    datatrove finds no word in capitals of a URL. Letters beyond ASCII part no words here; there
    they do, so datatrove may find a word or a part of one that is none here."""

    fate = "url_blocklist"
    needs = ("records",)
    settings = {
        "field": member(
            "url", "The member of the record that is its URL; `meta.url` of an object."
        ),
        "domains": optional_file("A list of domains: with each go all within it."),
        "urls": optional_file("A list of URLs."),
        "words": optional_file("A list of words, each of which drops."),
        "soft_words": optional_file("A list of words, of which several drop."),
        "subwords": optional_file("A list of parts of words."),
        "min_soft_words": count(2, "So many different soft words drop.", least=1),
        "missing": keep_or_drop("keep", "What becomes of a record without a URL."),
    }
    measured_with = ("field", *EXPECTED)
    values = {
        "url_list": Value(
            "text", "the first of domains, urls, words, subwords that has it; none if none has"
        ),
        "soft_words_found": Value("uint32", "different soft words in the URL"),
        "has_url": Value("bool", "whether there is one"),
        "reason": Value("text", "the list and what of the URL it has"),
    }

    def measure_documents(self, documents):
        import msgspec
        import numpy as np

        from corpusmill.mill.filters.features.urls import host_of, with_parents, words_of

        members = documents.members(self.field)
        is_text = [one is not None and one.startswith('"') for one in members]
        urls = [
            msgspec.json.decode(one).strip() if there else ""
            for one, there in zip(members, is_text, strict=True)
        ]
        hits = {
            "domains": self.hits("domains", [with_parents(host_of(url)) for url in urls]),
            "urls": self.hits("urls", [[url] for url in urls]),
            "words": self.hits("words", [words_of(url) for url in urls]),
            "subwords": self.subword_hits(urls),
        }
        soft = self.hits("soft_words", [words_of(url) for url in urls])
        lists = [next((name for name in hits if hits[name][d]), None) for d in range(len(urls))]
        whats = [hits[name][d][:1] if name else soft[d] for d, name in enumerate(lists)]
        return {
            "url_list": lists,
            "soft_words_found": np.array(list(map(len, soft)), np.uint32),
            "has_url": np.array(list(map(bool, urls)), bool),
            "reason": [
                " ".join([name or "soft_words", *what]) if what else None if url else "no URL"
                for name, what, url in zip(lists, whats, urls, strict=True)
            ],
        }

    def hits(self, name: str, candidates: list[list[str]]) -> list[list[str]]:
        """Which of each document's candidates a list has."""
        from corpusmill.mill.filters.features.hashed_sets import hashed_set, listed
        from corpusmill.mill.filters.features.lists import list_pieces
        from corpusmill.mill.filters.features.urls import as_ascii

        path = getattr(self, name)
        if not path:
            return [[] for _ in candidates]
        kept = self.__dict__.setdefault("_sets", {})
        if name not in kept:
            cleaned: dict[str, Callable[[str], str]] = {"domains": as_ascii, "urls": str}
            pieces = (lines for _, lines in list_pieces(path))
            kept[name] = hashed_set(pieces, cleaned.get(name, str.lower))
        return listed(candidates, kept[name])

    def subword_hits(self, urls: list[str]) -> list[list[str]]:
        from corpusmill.mill.filters.features.lists import entries
        from corpusmill.mill.filters.features.phrases import found_in, phrases_of
        from corpusmill.mill.filters.features.urls import squeezed
        from corpusmill.mill.read.text_column import TextColumn, string_array

        if not self.subwords:
            return [[] for _ in urls]
        if not hasattr(self, "_subwords"):
            self._subwords = phrases_of(list(map(squeezed, entries(self.subwords))))
        column = TextColumn.of(string_array([squeezed(url).encode() for url in urls]))
        first = found_in(column, self._subwords, False).first
        return [[self._subwords.phrases[one]] if one >= 0 else [] for one in first.tolist()]

    def drops(self, values):
        import numpy as np

        listed = np.array([one is not None for one in values["url_list"]], bool)
        soft = values["soft_words_found"] >= self.min_soft_words
        return listed | soft | (~values["has_url"].astype(bool) & (self.missing == "drop"))

    def faults(self):
        from corpusmill.mill.filters.features.lists import wrong_lines

        paths = {name: getattr(self, name) for name in EXPECTED if getattr(self, name)}
        if not paths:
            yield f"url_blocklist: no list is given. Give one of {', '.join(EXPECTED)}."
        for name, path in paths.items():
            yield from wrong_lines(path, *EXPECTED[name])
