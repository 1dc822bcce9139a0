"""Short documents: SlimPajama's filter."""

from corpusmill.mill.filters.declaration import Filter, Value, below, count


class TooShort(Filter):
    """Documents of fewer cleaned characters: lower-cased, no ASCII punctuation, white space
    collapsed."""

    fate = "too_short"
    settings = {
        "min_chars": count(200, "Fewest characters a cleaned text may have.", most=1_000_000)
    }
    values = {"chars": Value("uint32", "characters of the cleaned text")}
    limits = (below("chars", "min_chars"),)

    def measure(self, texts):
        import numpy as np

        from corpusmill.kernels.clean import count_cleaned
        from corpusmill.mill.read.unicode_tables import character_table

        chars = np.empty(texts.offsets.size - 1, np.uint32)
        count_cleaned(texts.data, texts.offsets, character_table(), chars)
        return {"chars": chars}
