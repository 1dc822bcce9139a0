"""C4's rule for bad words, with your own list."""

import re

from corpusmill.mill.filters.declaration import (
    Filter,
    Value,
    above,
    count,
    file,
    flag,
    share,
    word_rule,
)

PHRASE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]+")
"""Pattern of a phrase. It rejects tabs and other line ends: no text would contain such a phrase."""
MOST_TABLE_BYTES = 256 * 10**6


class BadWords(Filter):
    """Drops documents that contain words or phrases of your list. Case does not matter. The filter
    searches the lower-cased text for `(?:\\W|^)phrase(?:\\W|$)`; with `boundaries: false`, it
    searches for the phrase anywhere. If phrases overlap, only the first one counts; if phrases
    start at the same place, only the longest one. For a second list, such as spam words, use the
    filter again under a different name (`use`)."""

    fate = "bad_words"
    needs = ("words",)
    settings = {
        "list": file(
            None, "UTF-8 file with one word or phrase per line and # comments; plain, .gz or .zst."
        ),
        "boundaries": flag(True, "Match whole words only. Use false for scripts without spaces."),
        "words": word_rule(),
        "max_bad_words": count(0, "Maximum number of matches."),
        "max_bad_word_ratio": share(None, "Maximum ratio of matches to words."),
    }
    measured_with = ("list", "boundaries", "words")
    values = {
        "bad_words_found": Value("uint32", "number of matches in the text"),
        "bad_word_ratio": Value("float64", "number of matches per word"),
        "first_bad_word": Value("text", "first match in the text, if any"),
    }
    limits = (
        above("bad_words_found", "max_bad_words"),
        above("bad_word_ratio", "max_bad_word_ratio"),
    )

    def measure_documents(self, documents):
        import numpy as np

        from corpusmill.mill.filters.features.lists import entries
        from corpusmill.mill.filters.features.phrases import found_in, phrases_of

        if not hasattr(self, "_phrases"):
            self._phrases = phrases_of(entries(self.list))
        hits, first = found_in(documents.texts, self._phrases, self.boundaries)
        names = [*self._phrases.phrases, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            return {
                "bad_words_found": hits,
                "bad_word_ratio": hits / documents.words(self.words).counts(),
                "first_bad_word": [names[one] for one in first.tolist()],
            }

    def faults(self):
        from corpusmill.mill.filters.features.lists import entries, wrong_lines
        from corpusmill.mill.filters.features.phrases import table_bytes

        wrong = list(wrong_lines(self.list, PHRASE, "a word or phrase without control characters"))
        yield from wrong
        needed = 0 if wrong else table_bytes(entries(self.list))
        if needed > MOST_TABLE_BYTES:
            yield (
                f"{self.list}: expected a list that can be searched for with at most "
                f"{MOST_TABLE_BYTES:,} bytes of memory, found one that needs {needed:,}. Split the "
                "list, and use the filter once for each of these lists (`use`)."
            )
