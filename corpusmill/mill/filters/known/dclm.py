"""DCLM-baseline's document filters (Li et al. 2024); the filter dclm_lines has the line edits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpusmill.mill.filters.declaration import Filter, Value, above, below, count, number, share
from corpusmill.mill.filters.known.gopher_quality import STOP_WORDS
from corpusmill.mill.filters.known.gopher_repetition import DUPLICATE, TOP

if TYPE_CHECKING:
    import numpy as np

    from corpusmill.mill.filters.documents import Documents
    from corpusmill.mill.filters.features.words import Words

SEGMENTS = {"line": "lines", "paragraph": "paragraphs, split at empty lines"}
BULLETS = "●•*-"


class Dclm(Filter):
    """Drops documents by Gopher's rules with the changes that DCLM made:

    - All copies of repeated content count, including the first. Each character counts once.
    - Every occurrence of a stop word counts, in lower or upper case.
    - `#` and ellipses are counted together and have one limit.
    - Text length and repetition are measured in `unicode` words that have a letter or digit. All
      other values use words split at white space.
    - White space around lines is removed, and empty lines are ignored.
    """

    fate = "dclm"
    needs = ("words", "lines")
    settings = {
        "min_words": count(50, "Minimum number of words; punctuation is not counted."),
        "max_words": count(100_000, "Maximum number of words; punctuation is not counted."),
        "min_mean_word_chars": number(3, "Minimum mean word length.", 0),
        "max_mean_word_chars": number(10, "Maximum mean word length.", 0),
        "max_symbol_ratio": number(0.1, "Maximum number of symbols per word.", 0),
        "max_bullet_line_share": share(0.9, "Maximum share of bullet lines."),
        "max_ellipsis_line_share": share(
            0.3, "Maximum share of lines with an ellipsis at the end."
        ),
        "max_no_alpha_word_share": share(0.2, "Maximum share of words that contain no letter."),
        "min_stop_words": count(2, f"Minimum number of occurrences of {', '.join(STOP_WORDS)}."),
        **{
            f"max_copied_{one}_share": share(0.3, f"Maximum share of repeated {one}s.")
            for one in SEGMENTS
        },
        **{
            f"max_copied_{one}_char_share": share(
                0.2, f"Maximum share of characters in repeated {one}s."
            )
            for one in SEGMENTS
        },
        **{
            f"max_top_{n}_gram_share": share(
                most, f"Maximum share of characters in the most frequent {n}-gram."
            )
            for n, most in TOP.items()
        },
        **{
            f"max_copied_{n}_gram_share": share(most, f"Maximum share of repeated {n}-grams.")
            for n, most in DUPLICATE.items()
        },
    }
    values = {
        "dclm_words": Value("uint32", "number of words with a letter or digit"),
        "dclm_mean_word_chars": Value(
            "float64", "mean word length; words are split at white space"
        ),
        "dclm_symbol_ratio": Value(
            "float64", "number of # and ellipses (`...`, `. . .` or `…`) per word"
        ),
        "dclm_bullet_line_share": Value("float64", "share of lines that begin with ● • * or -"),
        "dclm_ellipsis_line_share": Value(
            "float64", "share of lines that end in `...`, `. . .` or `…`"
        ),
        "dclm_no_alpha_word_share": Value("float64", "share of words without a letter"),
        "dclm_stop_words": Value("uint32", f"occurrences of {', '.join(STOP_WORDS)}"),
        **{
            f"dclm_copied_{one}_share": Value("float64", f"share of repeated {what}")
            for one, what in SEGMENTS.items()
        },
        **{
            f"dclm_copied_{one}_char_share": Value(
                "float64", f"share of the characters of all {one}s that are in repeated {one}s"
            )
            for one in SEGMENTS
        },
        **{
            f"dclm_top_{n}_gram_share": Value(
                "float64",
                f"share of word characters in the most frequent {n}-gram (the longest one if tied)",
            )
            for n in TOP
        },
        **{
            f"dclm_copied_{n}_gram_share": Value(
                "float64", f"share of word characters in repeated {n}-grams"
            )
            for n in DUPLICATE
        },
    }
    limits = (
        below("dclm_words", "min_words"),
        above("dclm_words", "max_words"),
        below("dclm_mean_word_chars", "min_mean_word_chars"),
        *(
            above(f"dclm_{name}", f"max_{name}")
            for name in (
                "mean_word_chars", "symbol_ratio", "bullet_line_share", "ellipsis_line_share",
                "no_alpha_word_share",
            )
        ),
        below("dclm_stop_words", "min_stop_words"),
        *(
            above(name, f"max_{name.removeprefix('dclm_')}")
            for name in values
            if name.startswith(("dclm_copied_", "dclm_top_"))
        ),
    )  # fmt: skip

    def measure_documents(self, documents):
        import numpy as np

        from corpusmill.kernels import copies
        from corpusmill.mill.filters.features.words import word_table

        lines = documents.lines()
        words = with_letter_or_digit(documents.words("unicode"))
        of_lines = np.empty((len(documents), 2), np.int64)
        bullets = np.array(list(map(ord, BULLETS)), np.uint32)
        columns = documents.texts.data, lines.first, lines.columns, word_table()
        copies.count_marked_lines(*columns, bullets, of_lines)
        counts = np.empty((len(documents), 8), np.int64)
        copies.count_copies(*columns, counts)
        shares = np.empty((len(documents), len(TOP) + len(DUPLICATE)))
        copies.copied_gram_shares(words.first, words.chars, words.hashes, True, shares)
        all_words, chars, no_alpha, stop_words, symbols = of_words(documents).T
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [
                words.counts().astype(np.uint32),
                chars / all_words,
                symbols / all_words,
                *(of_lines / counts[:, [0]]).T,
                no_alpha / all_words,
                stop_words.astype(np.uint32),
                *(counts[:, [1, 5, 3, 7]] / counts[:, [0, 4, 2, 6]]).T,
                *shares.T,
            ]
        return dict(zip(self.values, found, strict=True))


def with_letter_or_digit(words: Words) -> Words:
    import numpy as np

    from corpusmill.kernels.words import ALPHA, DIGIT, FACTS
    from corpusmill.mill.filters.features.words import Words

    kept = words.facts & ((ALPHA | DIGIT) >> FACTS) != 0
    first = np.concatenate([[0], np.cumsum(kept)])[words.first]
    return Words(first, words.chars[kept], words.facts[kept], words.hashes[kept])


def of_words(documents: Documents) -> np.ndarray:
    """Return int64 (documents, 5): words split at white space, their characters, words without a
    letter, stop words, symbols."""
    import itertools

    import numpy as np

    from corpusmill.kernels.copies import count_plain_words
    from corpusmill.mill.filters.features.words import hash_of

    texts, words = documents.texts, documents.words("whitespace")
    # No other character lower-cases to one of these letters.
    spellings = [
        "".join(one)
        for word in STOP_WORDS
        for one in itertools.product(*((small, small.upper()) for small in word))
    ]
    stop_words = np.sort(np.array([hash_of(one) for one in spellings], np.uint64))
    counts = np.empty((len(documents), 5), np.int64)
    count_plain_words(texts.data, texts.offsets, *words, stop_words, counts)
    return counts
