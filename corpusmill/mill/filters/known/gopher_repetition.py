"""Gopher's rules against repetition (Rae et al. 2021), as datatrove reads them."""

from corpusmill.mill.filters.declaration import Filter, Value, above, share, word_rule

TOP = {2: 0.2, 3: 0.18, 4: 0.16}
DUPLICATE = {5: 0.15, 6: 0.14, 7: 0.13, 8: 0.12, 9: 0.11, 10: 0.1}


class GopherRepetition(Filter):
    """Documents in which much comes again: paragraphs, lines, runs of words. Of what comes again
    the first occurrence does not count; shares are of all characters of the text."""

    fate = "gopher_repetition"
    needs = ("words", "lines")
    settings = {
        "words": word_rule(),
        "max_repeated_paragraph_share": share(0.3, "Largest share of paragraphs that come again."),
        "max_repeated_paragraph_char_share": share(0.2, "Largest share of their characters."),
        "max_repeated_line_share": share(0.3, "Largest share of lines that come again."),
        "max_repeated_line_char_share": share(0.2, "Largest share of their characters."),
        **{
            f"max_top_{n}_gram_share": share(
                most, f"Largest share of characters of the {n} words that come most often together."
            )
            for n, most in TOP.items()
        },
        **{
            f"max_repeated_{n}_gram_share": share(
                most, f"Largest share of characters in runs of {n} words that come again."
            )
            for n, most in DUPLICATE.items()
        },
    }
    measured_with = ("words",)
    values = {
        "repeated_paragraph_share": Value("float64", "paragraphs that stood before / paragraphs"),
        "repeated_paragraph_char_share": Value("float64", "their characters / characters"),
        "repeated_line_share": Value("float64", "lines that stood before / lines"),
        "repeated_line_char_share": Value("float64", "their characters / characters"),
        **{
            f"top_{n}_gram_share": Value(
                "float64", f"characters of the most frequent {n} words, spaces too / characters"
            )
            for n in TOP
        },
        **{
            f"repeated_{n}_gram_share": Value(
                "float64", f"characters of {n} words that stood before / characters"
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
