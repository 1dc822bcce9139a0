"""C4's rules (Raffel et al. 2020), as in datatrove."""

from corpusmill.mill.filters.declaration import Filter, Value, above, below, count, flag, text


class C4(Filter):
    """Cuts lines that are not prose, then drops documents with too few sentences left. Also drops
    documents that contain a { or `lorem ipsum`. Later filters see the text without the cut
    lines."""

    fate = "c4"
    settings = {
        "needs_end_mark": flag(
            True, "Cut lines without an end mark, or with three dots at the end."
        ),
        "min_words_per_line": count(
            3, "Cut lines with fewer words than this; words are split at white space."
        ),
        "max_word_chars": count(1000, "Cut lines with a longer word."),
        "cuts_citations": flag(True, "Cut [1], [edit] and [citation needed] out of lines."),
        "cuts_javascript": flag(True, "Cut lines that contain javascript."),
        "cuts_policies": flag(True, "Cut lines about terms of use, privacy policy and cookies."),
        "max_lorem_ipsum_lines": count(0, "Maximum number of lines that contain lorem ipsum."),
        "max_curly_lines": count(0, "Maximum number of lines that contain a brace: {."),
        "min_sentences": count(5, "Minimum number of sentences in the lines that are not cut."),
        "end_marks": text(".?!\"'", "Characters that may end a line."),
        "paragraph_chars": count(
            200, "Minimum characters of a line that counts as a paragraph, before any cut."
        ),
        "min_paragraphs": count(None, "Minimum number of paragraphs; mC4 uses 3."),
    }  # fmt: skip
    cut_with = tuple(settings)[:6]
    measured_with = (*cut_with, "end_marks", "paragraph_chars")
    values = {
        "lorem_ipsum_lines": Value("uint32", "lines with lorem ipsum"),
        "curly_lines": Value("uint32", "lines with a {"),
        "c4_sentences": Value("uint32", "sentences in the remaining lines"),
        "c4_paragraphs": Value("uint32", "paragraphs; mC4 requires 3"),
    }
    limits = (
        above("lorem_ipsum_lines", "max_lorem_ipsum_lines"),
        above("curly_lines", "max_curly_lines"),
        below("c4_sentences", "min_sentences"),
        below("c4_paragraphs", "min_paragraphs"),
    )
    edits = {
        "long_word": "lines with a long word",
        "no_end_mark": "lines without an end mark",
        "few_words": "lines with few words",
        "javascript": "lines that contain javascript",
        "policy": "lines about policies",
        "citation": "[1], [edit], [citation needed]",
        "white_space": "white space around remaining lines and at the end",
    }

    def measure_and_edit(self, documents):
        import numpy as np

        from corpusmill.kernels.c4 import c4_lines
        from corpusmill.kernels.lines import count_long_lines
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
            yield "c4: end_marks is empty. List some characters, or set needs_end_mark to false."
