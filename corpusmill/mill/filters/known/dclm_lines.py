"""DCLM-baseline's line edits (Li et al. 2024)."""

from corpusmill.mill.filters.declaration import Filter, Value, above, count, flag, share


class DclmLines(Filter):
    """Cuts boilerplate lines: lines in capitals, lines of digits, lines of one word and counters of
    likes. Cuts shop and log-in phrases out of short lines. Drops documents that lose too many words
    through these cuts. Later filters see the text without the cut parts. Lines are split at
    newlines, words at white space. Unlike DCLM, the filter can leave phrases that are next to white
    space at the end of a line."""

    fate = "dclm_lines"
    settings = {
        "max_line_upper_share": share(0.5, "Cut lines with a larger share of capitals than this."),
        "max_line_digit_share": share(
            0.999999, "Cut lines with a larger share of digits than this."
        ),
        "cuts_counters": flag(True, "Cut lines such as `3.5k views`."),
        "min_words_per_line": count(2, "Cut lines with fewer words than this, except empty lines."),
        "max_phrase_words": count(
            10,
            "In lines with at most this number of words, cut `items in cart` anywhere, `read "
            "more` plus three characters at the end, and `sign-in` at the start.",
        ),
        "max_newlines": count(2, "Maximum number of consecutive newlines to keep.", least=1),
        "max_removed_word_share": share(0.05, "Maximum share of words cut."),
    }
    measured_with = tuple(settings)[:6]
    values = {
        "removed_word_share": Value(
            "float64",
            "share of words that were cut; only words that begin with a letter or digit count",
        )
    }
    limits = (above("removed_word_share", "max_removed_word_share"),)
    edits = {
        "upper_case": "lines with many capitals",
        "digits": "lines with many digits",
        "counter": "counters of likes, views, followers",
        "few_words": "lines with few words",
        "phrase": "phrases, and lines that become empty",
        "newlines": "surplus newlines",
        "white_space": "white space at both ends of the text",
    }

    def measure_and_edit(self, documents):
        import numpy as np

        from corpusmill.kernels.dclm import dclm_cuts
        from corpusmill.mill.filters.edits import Cuts
        from corpusmill.mill.filters.features.phrases import word_characters
        from corpusmill.mill.filters.features.words import word_table

        needs = np.array([getattr(self, name) for name in self.measured_with], np.float64)
        texts, counts = documents.texts, np.empty((len(documents), 2), np.int64)
        tables = word_table(), word_characters()
        cuts = Cuts.made_by(
            lambda room: dclm_cuts(texts.data, texts.offsets, *tables, needs, room, counts),
            int(texts.sizes().sum()),
        )
        before, after = counts.T
        with np.errstate(invalid="ignore"):
            return {"removed_word_share": (before - after) / before}, cuts
