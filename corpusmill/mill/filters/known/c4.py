"""C4's rules (Raffel et al. 2020), as datatrove has them."""

from corpusmill.mill.filters.declaration import Filter, Value, above, below, count, flag, text


class C4(Filter):
    """Documents with a { or lorem ipsum, or with too few sentences once lines that are no prose are
    cut: filters behind this one see the text without these."""

    fate = "c4"
    settings = {
        "needs_end_mark": flag(
            True, "Cut lines that do not end in one of end_marks, or end in three dots."
        ),
        "min_words_per_line": count(3, "Cut lines of fewer words, as white space parts them."),
        "max_word_chars": count(1000, "Cut lines with a longer word."),
        "cuts_citations": flag(True, "Cut [1], [edit] and [citation needed] out of lines."),
        "cuts_javascript": flag(True, "Cut lines with javascript in them."),
        "cuts_policies": flag(True, "Cut lines about terms of use, privacy policy and cookies."),
        "max_lorem_ipsum_lines": count(0, "Most lines with lorem ipsum."),
        "max_curly_lines": count(0, "Most lines with a {."),
        "min_sentences": count(5, "Fewest sentences in the lines that stay."),
        "end_marks": text(".?!\"'", "Marks that a line may end in, one after the other."),
        "paragraph_chars": count(200, "A line of the text before it is cut is a paragraph from so "
                                      "many characters on, as newlines part lines."),
        "min_paragraphs": count(None, "Fewest paragraphs; mC4's rule is 3."),
    }  # fmt: skip
    cut_with = tuple(settings)[:6]
    measured_with = (*cut_with, "end_marks", "paragraph_chars")
    values = {
        "lorem_ipsum_lines": Value("uint32", "lines with lorem ipsum"),
        "curly_lines": Value("uint32", "lines with a {"),
        "c4_sentences": Value("uint32", "sentences in the lines that stay"),
        "c4_paragraphs": Value("uint32", "lines of at least paragraph_chars characters"),
    }
    limits = (
        above("lorem_ipsum_lines", "max_lorem_ipsum_lines"),
        above("curly_lines", "max_curly_lines"),
        below("c4_sentences", "min_sentences"),
        below("c4_paragraphs", "min_paragraphs"),
    )
    edits = {
        "long_word": "lines with a word of more than max_word_chars characters",
        "no_end_mark": "lines that do not end as sentences do",
        "few_words": "lines of fewer than min_words_per_line words",
        "javascript": "lines with javascript in them",
        "policy": "lines about terms of use, privacy policy and cookies",
        "citation": "[1], [edit], [citation needed]",
        "white_space": "white space around lines that stay, and behind the last one",
    }

    def measure_and_edit(self, documents):
        import numpy as np

        from corpusmill.kernels.c4 import c4_lines
        from corpusmill.kernels.long_lines import count_long_lines
        from corpusmill.mill.filters.edits import Cuts
        from corpusmill.mill.filters.features.words import word_table
        from corpusmill.mill.read.unicode_tables import points_of

        needs = np.array([getattr(self, name) for name in self.cut_with], np.int64)
        marks = np.unique(points_of(self.end_marks))
        texts, counts = documents.texts, np.empty((len(documents), 3), np.int64)
        cuts = Cuts.made_by(
            lambda room: c4_lines(
                texts.data, texts.offsets, word_table(), needs, marks, room, counts
            ),
            int(texts.sizes().sum()),
        )
        sentences, lorem, curly = counts.T.astype(np.uint32)
        paragraphs = np.empty(len(documents), np.int64)
        count_long_lines(texts.data, texts.offsets, self.paragraph_chars, paragraphs)
        values = {
            "lorem_ipsum_lines": lorem,
            "curly_lines": curly,
            "c4_sentences": sentences,
            "c4_paragraphs": paragraphs.astype(np.uint32),
        }
        return values, cuts

    def faults(self):
        if self.needs_end_mark and not self.end_marks:
            yield "c4: end_marks has no mark. Name some, or set needs_end_mark to false."
