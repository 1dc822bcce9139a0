"""RedPajama-v2's quality signals that need no model (Weber et al. 2024)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpusmill.mill.filters.declaration import Filter, Value, several
from corpusmill.mill.filters.known.gopher_quality import STOP_WORDS
from corpusmill.mill.filters.known.gopher_repetition import DUPLICATE, TOP

if TYPE_CHECKING:
    import numpy as np

    from corpusmill.mill.read.text_column import TextColumn

WHAT = {
    "rps_doc_num_sentences": "number of matches of `\\b[^.!?]+[.!?]*`",
    "rps_doc_word_count": "normalized words",
    "rps_doc_mean_word_length": "mean length of normalized words",
    "rps_doc_symbol_to_word_ratio": "number of `#`, `...` and `…` per raw word",
    "rps_doc_frac_lines_end_with_ellipsis": "share of lines that end in `...` or `…`",
    "rps_doc_frac_no_alph_words": "share of raw words without an ASCII letter",
    "rps_doc_frac_unique_words": "share of different words among the normalized words",
    "rps_doc_unigram_entropy": "entropy of the normalized words in nats, rounded to 8 digits",
    "rps_doc_frac_all_caps_words": "share of raw words in capitals",
    "rps_doc_stop_word_fraction": "share of raw words that are stop words",
    "rps_doc_lorem_ipsum": "number of `lorem ipsum` per normalized character",
    "rps_doc_curly_bracket": "number of `{` and `}` per character",
    **{
        f"rps_doc_frac_chars_top_{n}gram": (
            f"share of the characters of normalized words in the most frequent {n}-gram; 0 if no "
            f"{n}-gram is repeated"
        )
        for n in TOP
    },
    **{
        f"rps_doc_frac_chars_dupe_{n}grams": (
            f"share of the characters of normalized words in repeated {n}-grams"
        )
        for n in DUPLICATE
    },
    "rps_lines_javascript_counts": "how often the normalized word `javascript` occurs, per line",
    "rps_lines_ending_with_terminal_punctution_mark": "share of lines that end in . ! ? or ”",
    "rps_lines_num_words": "number of normalized words per line",
    "rps_lines_uppercase_letter_fraction": "share of capitals in a line, including its newline",
    "rps_lines_numerical_chars_fraction": "share of numerals in a line, including its newline",
    "rps_lines_start_with_bulletpoint": "share of lines that begin with • ‣ ▶ ◀ ◦ ■ □ ▪ ▫ or –",
}


class RedpajamaSignals(Filter):
    """Measures only; drops nothing. All values are float64.

    - Raw words: runs of `\\w`, and runs of other characters that are not white space.
    - Normalized words: lower case, NFD, no ASCII punctuation, split at white space.
    - Line signals are means over all lines; RedPajama stores a number for each line.
    - The default stop words are corpusmill's; RedPajama has a list for each language.
    - For RedPajama's bad words and domains, use the filters bad_words and url_blocklist.
    """

    fate = "redpajama_signals"
    needs = ("words",)
    settings = {"stop_words": several(STOP_WORDS, "Common words; lower and upper case differ.")}
    measured_with = ("stop_words",)
    values = {name: Value("float64", what) for name, what in WHAT.items()}
    limits = ()

    def measure(self, texts):
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            found = of_raw_texts(texts, self.stop_words) | of_normalized_texts(texts)
            lines = found.pop("lines")
            for name in ("rps_lines_javascript_counts", "rps_lines_num_words"):
                found[name] = found[name] / lines
        # RedPajama gives 0 for an empty text here, and no value for most other signals.
        found["rps_doc_stop_word_fraction"][found["rps_doc_word_count"] == 0] = 0
        return {name: found[name].astype(np.float64) for name in self.values}


def of_raw_texts(texts: TextColumn, stop_words: list[str]) -> dict[str, np.ndarray]:
    import numpy as np

    from corpusmill.kernels import redpajama_signals as signals
    from corpusmill.mill.filters.features.redpajama_texts import signal_table
    from corpusmill.mill.filters.features.words import hash_of

    documents = texts.offsets.size - 1
    hashes = np.unique(np.array([hash_of(one) for one in stop_words], np.uint64))
    of_words, of_lines = np.empty((2, documents, 5), np.int64)
    shares = np.empty((documents, 2))
    signals.count_raw_words(*texts[::-1], signal_table(), hashes, of_words)
    signals.sum_lines(*texts[::-1], signal_table(), of_lines, shares)
    symbols = np.empty((documents, 2), np.int64)
    signals.count_marks(*texts[::-1], symbols)
    words, latin, capitals, stops, sentences = of_words.T
    chars, lines, ended, dotted, bullets = of_lines.T
    return {
        "rps_doc_num_sentences": sentences,
        "rps_doc_symbol_to_word_ratio": symbols[:, 0] / words,
        "rps_doc_frac_lines_end_with_ellipsis": dotted / lines,
        "rps_doc_frac_no_alph_words": 1 - latin / words,
        "rps_doc_frac_all_caps_words": capitals / words,
        "rps_doc_stop_word_fraction": stops / words,
        "rps_doc_curly_bracket": symbols[:, 1] / np.maximum(chars, 1),
        "rps_lines_ending_with_terminal_punctution_mark": ended / lines,
        "rps_lines_uppercase_letter_fraction": shares[:, 0] / lines,
        "rps_lines_numerical_chars_fraction": shares[:, 1] / lines,
        "rps_lines_start_with_bulletpoint": bullets / lines,
        "lines": lines,
    }


def of_normalized_texts(texts: TextColumn) -> dict[str, np.ndarray]:
    """Return the signals of normalized texts. Line signals are sums, not means."""
    import numpy as np

    from corpusmill.kernels.copies import copied_gram_shares
    from corpusmill.kernels.redpajama_signals import word_entropy
    from corpusmill.mill.filters.features.phrases import found_in, phrases_of
    from corpusmill.mill.filters.features.redpajama_texts import normalized_column
    from corpusmill.mill.filters.features.words import hash_of, words_of

    column = normalized_column(texts)
    words = words_of(column, "whitespace")
    counts = words.counts()
    sums = np.concatenate([[0], np.cumsum(words.chars, dtype=np.int64)])
    scripts = np.concatenate([[0], np.cumsum(words.hashes == np.uint64(hash_of("javascript")))])
    unique, entropy = np.empty(counts.size, np.int64), np.empty(counts.size)
    word_entropy(words.first, words.hashes, unique, entropy)
    shares = np.empty((counts.size, len(TOP) + len(DUPLICATE)))
    copied_gram_shares(words.first, words.chars, words.hashes, False, shares)
    lorem = found_in(column, phrases_of(["lorem ipsum"]), False).hits
    chars = np.diff(sums[words.first])
    tops = [f"rps_doc_frac_chars_top_{n}gram" for n in TOP]
    duplicates = [f"rps_doc_frac_chars_dupe_{n}grams" for n in DUPLICATE]
    return {
        "rps_doc_word_count": counts,
        "rps_doc_mean_word_length": chars / counts,
        "rps_doc_frac_unique_words": unique / counts,
        "rps_doc_unigram_entropy": np.round(entropy, 8),
        "rps_doc_lorem_ipsum": lorem / np.maximum(chars + counts - 1, 1),
        **dict(zip([*tops, *duplicates], shares.T, strict=True)),
        "rps_lines_javascript_counts": np.diff(scripts[words.first]),
        "rps_lines_num_words": counts,
    }
