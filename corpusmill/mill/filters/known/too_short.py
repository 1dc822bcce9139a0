"""SlimPajama's filter for short documents."""

from corpusmill.mill.filters.declaration import Filter, Value, below, count


class TooShort(Filter):
    """Drops documents whose cleaned text is too short. Cleaned text is in lower case, without ASCII
    punctuation, and with white space collapsed."""

    fate = "too_short"
    settings = {
        "min_chars": count(200, "Minimum number of characters in the cleaned text.", most=1_000_000)
    }
    values = {"chars": Value("uint32", "number of characters of the cleaned text")}
    limits = (below("chars", "min_chars"),)

    def measure(self, texts):
        import numpy as np

        from corpusmill.kernels.clean import count_cleaned
        from corpusmill.mill.read.unicode_tables import character_table

        chars = np.empty(texts.offsets.size - 1, np.uint32)
        count_cleaned(texts.data, texts.offsets, character_table(), chars)
        return {"chars": chars}
