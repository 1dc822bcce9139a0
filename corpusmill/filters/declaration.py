"""What a filter says of itself. A file of yours is as good as one of ours; docs/extending.md.

    class ManyEmojis(Filter):
        \"\"\"Documents that are mostly emoji.\"\"\"

        fate = "many_emojis"
        settings = {"max_share": share(0.2, "Largest share of emoji among the characters.")}
        values = {"emoji_share": Value("float32", "emoji / characters")}

        def measure(self, texts):
            return {"emoji_share": ...}

        def drops(self, values):
            return values["emoji_share"] > self.max_share

Imported while the workflow is read, and so light: whoever measures imports what it takes there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from corpusmill.filters.documents import Documents
    from corpusmill.text.columns import TextColumn

DTYPES = ("bool", "uint8", "uint16", "uint32", "uint64", "int32", "int64", "float32", "float64",
          "text")  # fmt: skip


class Value(NamedTuple):
    """What is measured of every document. A value that is named `reason`, a text, is what the
    ledger shows as the reason."""

    dtype: str
    """One of DTYPES; a text is a str or None, all others are numpy's."""
    meaning: str


def column_of(fate: str, value: str) -> str:
    """What a value of a filter is called in the table of measures."""
    return f"{fate}_reason" if value == "reason" else value


class Setting(NamedTuple):
    """A key of the filter in the configuration."""

    default: Any
    """None: it has to be given."""
    meaning: str
    schema: dict[str, Any]
    """JSON Schema: its type and limits."""


def share(default: float | None, meaning: str) -> Setting:
    return Setting(default, meaning, {"type": "number", "minimum": 0, "maximum": 1})


def number(
    default: float | None, meaning: str, least: float | None = None, most: float | None = None
) -> Setting:
    return Setting(default, meaning, {"type": "number"} | _limits(least, most))


def count(default: int | None, meaning: str, least: int = 0, most: int | None = None) -> Setting:
    return Setting(default, meaning, {"type": "integer"} | _limits(least, most))


def text(default: str | None, meaning: str, one_of: list[str] | None = None) -> Setting:
    return Setting(default, meaning, {"enum": one_of} if one_of else {"type": "string"})


def flag(default: bool | None, meaning: str) -> Setting:
    return Setting(default, meaning, {"type": "boolean"})


def _limits(least: float | None, most: float | None) -> dict[str, float]:
    found = {"minimum": least, "maximum": most}
    return {key: limit for key, limit in found.items() if limit is not None}


class Filter:
    """A reason to drop documents. Each setting is an attribute of its name.

    While a part is measured only the settings of `measured_with` are there: what another one
    changes is decided again, not measured again.
    """

    fate: ClassVar[str]
    """Its name in the configuration, and what the account calls the documents that it drops."""
    settings: ClassVar[Mapping[str, Setting]] = {}
    measured_with: ClassVar[tuple[str, ...]] = ()
    values: ClassVar[Mapping[str, Value]] = {}
    files: ClassVar[tuple[str, ...]] = ()
    """What it reads besides, a list of words for one: when such a file changes, so does all that
    depends on the filter. Paths from the working directory."""

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def measure(self, texts: TextColumn) -> Mapping[str, np.ndarray | list[str | None]]:
        """The values of every document, once; texts: normalized, see corpusmill.text.columns."""
        return {}

    def measure_documents(
        self, documents: Documents
    ) -> Mapping[str, np.ndarray | list[str | None]]:
        """The same by more than the texts: for a filter that looks at the records too."""
        return self.measure(documents.texts)

    def drops(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """bool (documents,): which are dropped, from the values alone."""
        raise NotImplementedError
