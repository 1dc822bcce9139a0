"""Gopher's repetition rules (Rae et al. 2021), as in datatrove."""

from corpusmill.mill.filters.declaration import Filter, Value, above, share, word_rule

TOP = {2: 0.2, 3: 0.18, 4: 0.16}
DUPLICATE = {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.1}


class GopherRepetition(Filter):
    """Drops documents with many repeated paragraphs, lines or word sequences. The first occurrence
    does not count as a repeat. Shares of characters are relative to all characters of the text."""

    fate = "gopher_repetition"
    needs = ("words", "lines")
    settings = {
        "words": word_rule(),
        "max_repeated_paragraph_share": share(0.3, "Maximum share of repeated paragraphs."),
        "max_repeated_paragraph_char_share": share(
            0.2, "Maximum share of characters in repeated paragraphs."
        ),
        "max_repeated_line_share": share(0.3, "Maximum share of repeated lines."),
        "max_repeated_line_char_share": share(
            0.2, "Maximum share of characters in repeated lines."
        ),
        **{
            f"max_top_{n}_gram_share": share(
                most, f"Maximum share of characters in the most frequent {n}-gram."
            )
            for n, most in TOP.items()
        },
        **{
            f"max_repeated_{n}_gram_share": share(
                most, f"Maximum share of characters in repeated {n}-grams."
            )
            for n, most in DUPLICATE.items()
        },
    }
    measured_with = ("words",)
    values = {
        "repeated_paragraph_share": Value("float64", "share of repeated paragraphs"),
        "repeated_paragraph_char_share": Value(
            "float64", "share of characters in repeated paragraphs"
        ),
        "repeated_line_share": Value("float64", "share of repeated lines"),
        "repeated_line_char_share": Value("float64", "share of characters in repeated lines"),
        **{
            f"top_{n}_gram_share": Value(
                "float64", f"share of characters in the most frequent {n}-gram, including spaces"
            )
            for n in TOP
        },
        **{
            f"repeated_{n}_gram_share": Value(
                "float64", f"share of characters in repeated {n}-grams"
            )
            for n in DUPLICATE
        },
    }
    limits = tuple(above(name, f"max_{name}") for name in values)

    def measure_documents(self, documents):
        import numpy as np

        from corpusmill.kernels.gopher import count_repeats, gram_shares
        from corpusmill.mill.filters.features.words import word_table

        texts, lines, words = documents.texts, documents.lines(), documents.words(self.words)
        counts = np.empty((len(documents), 7), np.int64)
        count_repeats(texts.data, texts.offsets, lines.first, lines.columns, word_table(), counts)
        chars, paragraphs, *of_paragraphs, line_count, repeated, repeated_chars = counts.T
        shares = np.empty((len(documents), len(TOP) + len(DUPLICATE)))
        gram_shares(words.first, words.chars, words.hashes, chars, shares)
        of_text = np.maximum(chars, 1)
        found = [
            of_paragraphs[0] / paragraphs,
            of_paragraphs[1] / of_text,
            repeated / line_count,
            repeated_chars / of_text,
            *shares.T,
        ]
        return dict(zip(self.values, found, strict=True))
