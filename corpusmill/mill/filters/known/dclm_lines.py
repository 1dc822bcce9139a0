"""DCLM-baseline's edits of lines (Li et al. 2024), and its limit of what they may take."""

from corpusmill.mill.filters.declaration import Filter, Value, above, count, flag, share


class DclmLines(Filter):
    """Cuts lines of capitals, of digits, of a single word, and those that count likes; phrases of
    shops and log-ins out of short lines; and drops documents that lose too many words so: filters
    behind this one see the text without these. A line is what newlines part. Where lines have white
    space at their ends, phrases there may stay that DCLM cuts."""

    fate = "dclm_lines"
    settings = {
        "max_line_upper_share": share(0.5, "Cut lines with a larger share of capitals."),
        "max_line_digit_share": share(0.999999, "Cut lines with a larger share of digits."),
        "cuts_counters": flag(True, "Cut lines such as `3.5k views`."),
        "min_words_per_line": count(2, "Cut lines of fewer words, but for empty ones."),
        "max_phrase_words": count(
            10,
            "Of lines of at most so many words cut `items in cart`, `read more` and any three "
            "characters at the end, and `sign-in` at the beginning.",
        ),
        "max_newlines": count(2, "Cut newlines behind so many.", least=1),
        "max_removed_word_share": share(0.05, "Largest share of words that are cut."),
    }
    measured_with = tuple(settings)[:6]
    values = {
        "removed_word_share": Value(
            "float64",
            "words that are cut / words, which white space parts and a letter or digit begins",
        )
    }
    limits = (above("removed_word_share", "max_removed_word_share"),)
    edits = {
        "upper_case": "lines of more capitals than max_line_upper_share",
        "digits": "lines of more digits than max_line_digit_share",
        "counter": "lines that count likes, views, followers and so on",
        "few_words": "lines of fewer than min_words_per_line words",
        "phrase": "items in cart, read more..., sign-in, and lines that are no more",
        "newlines": "newlines behind max_newlines others",
        "white_space": "white space at the ends of what is left",
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
