"""Documents without a text."""

from corpusmill.mill.filters.declaration import Filter


class Empty(Filter):
    """Documents without a text; one that filters cut all of, wherever they stand, has none."""

    fate = "empty"

    def drops(self, values):
        return values["text_bytes"] == 0
