"""Gopher's quality rules (Rae et al. 2021), as in datatrove."""

from corpusmill.mill.filters.declaration import (
    Filter,
    Value,
    above,
    below,
    count,
    number,
    several,
    share,
    word_rule,
)

STOP_WORDS = ["the", "be", "to", "of", "and", "that", "have", "with"]


class GopherQuality(Filter):
    """Drops documents that do not look like prose: too few or too many words, very short or long
    words, many symbols, bullets or ellipses, words without letters, no common words."""

    fate = "gopher_quality"
    needs = ("words",)
    settings = {
        "words": word_rule(),
        "stop_words": several(STOP_WORDS, "Common words; lower and upper case differ."),
        "min_words": count(50, "Minimum number of words, without punctuation."),
        "max_words": count(100_000, "Maximum number of words, without punctuation."),
        "min_mean_word_chars": number(3, "Minimum mean word length.", 0),
        "max_mean_word_chars": number(10, "Maximum mean word length.", 0),
        "max_hash_ratio": number(0.1, "Maximum number of # per word.", 0),
        "max_ellipsis_ratio": number(0.1, "Maximum number of `...` and `…` per word.", 0),
        "max_bullet_line_share": share(0.9, "Maximum share of bullet lines."),
        "max_ellipsis_line_share": share(
            0.3, "Maximum share of lines with an ellipsis at the end."
        ),
        "min_alpha_word_share": share(0.8, "Minimum share of words with a letter."),
        "min_stop_words": count(2, "Minimum number of different stop words."),
    }
    measured_with = ("words", "stop_words")
    values = {
        "gopher_words": Value("uint32", "number of words that are not punctuation marks"),
        "mean_word_chars": Value("float64", "mean length of words that are not punctuation marks"),
        "hash_ratio": Value("float64", "number of # per word or punctuation mark"),
        "ellipsis_ratio": Value("float64", "number of `...` and `…` per word or punctuation mark"),
        "bullet_line_share": Value("float64", "share of lines that begin with • or -"),
        "ellipsis_line_share": Value("float64", "share of lines that end in `...` or `…`"),
        "alpha_word_share": Value("float64", "share of words with a letter among all words"),
        "stop_words_found": Value("uint32", "number of different stop words in the text"),
    }
    limits = (
        below("gopher_words", "min_words"),
        above("gopher_words", "max_words"),
        below("mean_word_chars", "min_mean_word_chars"),
        above("mean_word_chars", "max_mean_word_chars"),
        above("hash_ratio", "max_hash_ratio"),
        above("ellipsis_ratio", "max_ellipsis_ratio"),
        above("bullet_line_share", "max_bullet_line_share"),
        above("ellipsis_line_share", "max_ellipsis_line_share"),
        below("alpha_word_share", "min_alpha_word_share"),
        below("stop_words_found", "min_stop_words"),
    )

    def measure_documents(self, documents):
        import numpy as np

        from corpusmill.kernels.gopher import gopher_quality
        from corpusmill.mill.filters.features.words import hash_of, word_table

        texts, words = documents.texts, documents.words(self.words)
        stop_words = np.array([hash_of(one) for one in self.stop_words], np.uint64)
        counts = np.empty((len(documents), 10), np.int64)
        columns = words.first, words.chars, words.facts, words.hashes
        gopher_quality(texts.data, texts.offsets, word_table(), *columns, stop_words, counts)
        all_words, solid, chars, alpha, found, hashes, ellipses, lines, *of_lines = counts.T
        with np.errstate(divide="ignore", invalid="ignore"):
            return {
                "gopher_words": solid.astype(np.uint32),
                "mean_word_chars": chars / solid,
                "hash_ratio": hashes / all_words,
                "ellipsis_ratio": ellipses / all_words,
                "bullet_line_share": of_lines[0] / lines,
                "ellipsis_line_share": of_lines[1] / lines,
                "alpha_word_share": alpha / all_words,
                "stop_words_found": found.astype(np.uint32),
            }
