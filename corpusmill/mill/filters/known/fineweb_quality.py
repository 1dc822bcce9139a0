"""FineWeb's own rules (Penedo et al. 2024), as in datatrove."""

from corpusmill.mill.filters.declaration import (
    Filter,
    Value,
    above,
    below,
    count,
    number,
    share,
    text,
    word_rule,
)


class FinewebQuality(Filter):
    """Drops documents with too many lines that are short, repeated or without a sentence end, or
    with too few words per line. Lines are split at newlines; blank lines are ignored."""

    fate = "fineweb_quality"
    needs = ("words", "lines")
    settings = {
        "words": word_rule(),
        "stop_chars": text(
            "", "Characters that end a sentence; empty: the end marks of all scripts."
        ),
        "short_line_chars": count(30, "Maximum length of a short line, in characters."),
        "min_lines": count(1, "Minimum number of lines."),
        "min_terminal_line_share": share(
            0.12, "Minimum share of lines that end with the end mark of a sentence."
        ),
        "max_short_line_share": share(0.67, "Maximum share of short lines."),
        "max_repeated_char_share": share(0.01, "Maximum share of characters in repeated lines."),
        "max_newline_ratio": number(0.3, "Maximum number of newlines per word.", 0),
    }
    measured_with = ("words", "stop_chars", "short_line_chars")
    values = {
        "fineweb_lines": Value("uint32", "number of lines"),
        "terminal_line_share": Value("float64", "share of lines that end a sentence"),
        "short_line_share": Value("float64", "share of short lines"),
        "repeated_char_share": Value(
            "float64",
            "share of characters in repeated lines, excluding first copies; newlines do not count",
        ),
        "newline_ratio": Value("float64", "number of newlines per word"),
    }
    limits = (
        below("fineweb_lines", "min_lines"),
        below("terminal_line_share", "min_terminal_line_share"),
        above("short_line_share", "max_short_line_share"),
        above("repeated_char_share", "max_repeated_char_share"),
        above("newline_ratio", "max_newline_ratio"),
    )

    def measure_documents(self, documents):
        import numpy as np

        from corpusmill.kernels.fineweb import fineweb_quality
        from corpusmill.mill.filters.features.words import sentence_ends
        from corpusmill.mill.read.unicode_tables import points_of

        lines, words = documents.lines(), documents.words(self.words)
        marks = np.unique(points_of(self.stop_chars)) if self.stop_chars else sentence_ends()
        counts = np.empty((len(documents), 6), np.int64)
        fineweb_quality(
            documents.texts.data, lines.first, lines.columns, marks, self.short_line_chars, counts
        )
        solid, ended, shorter, repeated, chars, newlines = counts.T
        with np.errstate(divide="ignore", invalid="ignore"):
            return {
                "fineweb_lines": solid.astype(np.uint32),
                "terminal_line_share": ended / solid,
                "short_line_share": shorter / solid,
                "repeated_char_share": repeated / chars,
                "newline_ratio": newlines / words.counts(),
            }
