"""No text."""

from corpusmill.mill.filters.declaration import Filter


class Empty(Filter):
    """Drops documents without text. This includes documents whose whole text is cut by other
    filters, before or after this one."""

    fate = "empty"

    def drops(self, values):
        return values["text_bytes"] == 0
