"""Blocklists of domains, URLs and words in URLs."""

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
"""Pattern and description of the lines of each list."""


class UrlBlocklist(Filter):
    """Drops documents whose URL matches one of your lists. A list is a UTF-8 file with one entry
    per line and # comments; plain, .gz or .zst. Case matters only in `urls`. A word is a run of
    letters and digits.

    Differences from datatrove's URLFilter:

    - A listed domain blocks all its subdomains; datatrove tests only the host and its registered
      domain.
    - Words in capitals match the list; datatrove misses them.
    - Non-ASCII letters are part of words; datatrove splits words at these letters, so it can match
      more URLs.
    """

    fate = "url_blocklist"
    needs = ("records",)
    settings = {
        "field": member(
            "url", "Field with the URL; `meta.url` is the field url of the object meta."
        ),
        "domains": optional_file("File of domains; each domain also blocks its subdomains."),
        "urls": optional_file("File of whole URLs."),
        "words": optional_file(
            "File of words; a document is dropped if its URL has one of these words."
        ),
        "soft_words": optional_file(
            "File of words; a document is dropped if its URL has at least min_soft_words "
            "different words of this file."
        ),
        "subwords": optional_file(
            "File of character sequences; a document is dropped if the letters and digits of its "
            "URL contain one of these sequences."
        ),
        "min_soft_words": count(
            2,
            "A document is dropped if its URL has at least this number of different soft words.",
            least=1,
        ),
        "missing": keep_or_drop("keep", "What to do with records without a URL."),
    }
    measured_with = ("field", *EXPECTED)
    values = {
        "url_list": Value(
            "text", "first list that matches the URL (domains, urls, words or subwords), if any"
        ),
        "soft_words_found": Value("uint32", "number of different soft words in the URL"),
        "has_url": Value("bool", "whether the record has a URL"),
        "reason": Value("text", "list that matches and the matching part of the URL"),
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
        """Return those of each document's candidates that are in a list."""
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
            yield f"url_blocklist: no list is set. Set at least one of {', '.join(EXPECTED)}."
        for name, path in paths.items():
            yield from wrong_lines(path, *EXPECTED[name])
