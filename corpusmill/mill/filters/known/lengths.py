"""Limits on words, characters and lines."""

from corpusmill.mill.filters.declaration import (
    Filter,
    Value,
    above,
    below,
    count,
    number,
    word_rule,
)


class Lengths(Filter):
    """Drops documents that are too short or too long. Lines are split at newlines; blank lines are
    ignored."""

    fate = "lengths"
    needs = ("words", "lines")
    settings = {
        "words": word_rule(),
        "min_words": count(None, "Minimum number of words."),
        "max_words": count(None, "Maximum number of words."),
        "min_chars": count(None, "Minimum number of characters."),
        "max_chars": count(None, "Maximum number of characters."),
        "min_lines": count(None, "Minimum number of lines."),
        "max_lines": count(None, "Maximum number of lines."),
        "min_mean_line_chars": number(None, "Minimum mean line length.", 0),
        "max_mean_line_chars": number(None, "Maximum mean line length.", 0),
    }
    measured_with = ("words",)
    values = {
        "all_words": Value("uint32", "number of words"),
        "all_chars": Value("uint64", "number of characters, including white space"),
        "solid_lines": Value("uint32", "number of lines that are not blank"),
        "mean_line_chars": Value("float64", "mean length of lines that are not blank"),
    }
    limits = (
        below("all_words", "min_words"),
        above("all_words", "max_words"),
        below("all_chars", "min_chars"),
        above("all_chars", "max_chars"),
        below("solid_lines", "min_lines"),
        above("solid_lines", "max_lines"),
        below("mean_line_chars", "min_mean_line_chars"),
        above("mean_line_chars", "max_mean_line_chars"),
    )

    def measure_documents(self, documents):
        import numpy as np

        lines = documents.lines()
        starts, solid = lines.first[:-1], ~lines.blank
        # Every document has at least one line, so no sum is empty.
        chars = np.add.reduceat(lines.chars.astype(np.int64), starts)
        newlines = np.diff(lines.first) - 1
        in_lines = np.add.reduceat(np.where(solid, lines.chars, 0).astype(np.int64), starts)
        line_count = np.add.reduceat(solid.astype(np.int64), starts)
        with np.errstate(invalid="ignore"):
            return {
                "all_words": documents.words(self.words).counts().astype(np.uint32),
                "all_chars": (chars + newlines).astype(np.uint64),
                "solid_lines": line_count.astype(np.uint32),
                "mean_line_chars": in_lines / line_count,
            }
