"""The base class of filters. Users write theirs the same way, see docs/how-to/extend.md.

    class ManyEmojis(Filter):
        \"\"\"Documents that are mostly emoji.\"\"\"

        fate = "many_emojis"
        settings = {"max_share": share(0.2, "Largest share of emoji among the characters.")}
        values = {"emoji_share": Value("float32", "emoji / characters")}

        limits = (above("emoji_share", "max_share"),)

        def measure(self, texts):
            return {"emoji_share": ...}

Filters are imported while the workflow is read, so `measure` imports what it needs itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

if TYPE_CHECKING:
    import numpy as np

    from corpusmill.mill.filters.documents import Documents
    from corpusmill.mill.filters.edits import Cuts
    from corpusmill.mill.read.text_column import TextColumn

OF_LISTS = ("in", "not in")
"""Sides of limits whose setting is a list."""
DTYPES = ("bool", "uint8", "uint16", "uint32", "uint64", "int32", "int64", "float32", "float64",
          "text")  # fmt: skip


NEEDS = ("words", "lines", "records")
"""Features that `documents` offers on demand, in addition to the texts."""


class Value(NamedTuple):
    """A value measured of every document. The ledger shows a text value named `reason` as the
    reason."""

    dtype: str
    """One of DTYPES. A text is a str or None; all others are numpy dtypes."""
    meaning: str


class Limit(NamedTuple):
    """A limit: documents whose value is beyond a setting are dropped. A null setting drops none."""

    value: str
    side: str
    """The side that is dropped: see the functions below. A missing value, NaN or None, is only on
    the side `missing`."""
    setting: str


def below(value: str, setting: str) -> Limit:
    """Drop documents whose value is below the setting. Texts are compared by code points."""
    return Limit(value, "below", setting)


def above(value: str, setting: str) -> Limit:
    return Limit(value, "above", setting)


def among(value: str, setting: str) -> Limit:
    """Drop documents whose text value is in the setting, a list."""
    return Limit(value, "in", setting)


def outside(value: str, setting: str) -> Limit:
    """Drop documents whose text value is not in the setting, a list."""
    return Limit(value, "not in", setting)


def unlike(value: str, setting: str) -> Limit:
    """Drop documents whose text value does not match the setting, a regular expression."""
    return Limit(value, "not like", setting)


def lacking(value: str, setting: str) -> Limit:
    """Drop documents without the value if the setting is `drop`."""
    return Limit(value, "missing", setting)


class Setting(NamedTuple):
    """A key of the filter in the configuration."""

    default: Any
    """Default value. None means that the setting is required or, for a limit, that there is no
    limit."""
    meaning: str
    schema: dict[str, Any]
    """JSON Schema of the setting: its type and limits."""
    is_file: bool = False
    """Whether it names a file that the filter reads. When the file changes, dependent steps run
    again."""
    is_member: bool = False
    """Whether the setting names a record member. `check` reports a member that none of the first
    records has."""
    is_pattern: bool = False
    """Whether the setting is a regular expression, which may run forever. `prove` uses none from
    other people's results."""


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


def pattern(meaning: str) -> Setting:
    """Declare a Python regular expression."""
    return Setting(None, meaning, {"type": "string"}, is_pattern=True)


def several(
    default: list[str] | None, meaning: str, one_of: list[str] | None = None, least: int = 0
) -> Setting:
    """Declare a list of at least `least` texts."""
    items = {"enum": one_of} if one_of else {"type": "string"}
    schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": least}
    return Setting(default, meaning, schema)


def keep_or_drop(default: str, meaning: str) -> Setting:
    """Declare what happens to documents without a value, see `lacking`."""
    return text(default, meaning, ["keep", "drop"])


def member(default: str | None, meaning: str) -> Setting:
    """Declare a record member beside the text: `url`, or `meta.url` for a nested one."""
    return Setting(default, meaning, {"type": "string"}, is_member=True)


def file(default: str | None, meaning: str) -> Setting:
    """Declare a path relative to the working directory."""
    return Setting(default, meaning, {"type": "string", "minLength": 1}, is_file=True)


def optional_file(meaning: str) -> Setting:
    """Declare a path relative to the working directory. An empty text, the default, means no
    file."""
    return Setting("", meaning, {"type": "string"}, is_file=True)


def word_rule() -> Setting:
    """Declare the rule that splits words; see corpusmill/mill/filters/features/words.py."""
    return text(
        "unicode", "Rule that splits the text into words.", ["unicode", "whitespace", "english"]
    )


def flag(default: bool | None, meaning: str) -> Setting:
    return Setting(default, meaning, {"type": "boolean"})


def _limits(least: float | None, most: float | None) -> dict[str, float]:
    found = {"minimum": least, "maximum": most}
    return {key: limit for key, limit in found.items() if limit is not None}


class Filter:
    """A reason to drop documents. Each setting is an attribute of its name.

    During measuring, only the settings in `measured_with` exist. When another setting changes, the
    filter decides again but does not measure again.
    """

    fate: ClassVar[str]
    """The filter's name in the configuration and in the account of dropped documents."""
    settings: ClassVar[Mapping[str, Setting]] = {}
    measured_with: ClassVar[tuple[str, ...]] = ()
    values: ClassVar[Mapping[str, Value]] = {}
    limits: ClassVar[tuple[Limit, ...]]
    """The limits in order; the first one exceeded is the reason. `()`: the filter drops nothing."""
    edits: ClassVar[Mapping[str, str]] = {}
    """Rule -> its meaning, for a filter that cuts pieces out of texts. Later filters see the
    rest."""
    files: ClassVar[tuple[str, ...]] = ()
    """Other files that it reads, such as word lists, relative to the working directory. When one
    changes, everything that depends on the filter runs again."""

    needs: ClassVar[tuple[str, ...] | None] = None
    """The NEEDS that it uses. Memory is reserved for these alone. Without a declaration, a filter
    with `measure_documents` may use words and lines."""
    reads_records: ClassVar[bool] = False
    """Whether the filter also uses records. This only matters for a filter that does not declare
    `needs`."""

    if TYPE_CHECKING:

        def __getattr__(self, setting: str) -> Any: ...

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def measure(self, texts: TextColumn) -> Mapping[str, np.ndarray | list[str | None]]:
        """Return the values of every document. texts: normalized, see read/text_column.py."""
        return {}

    def measure_documents(
        self, documents: Documents
    ) -> Mapping[str, np.ndarray | list[str | None]]:
        """Return the values, measured from texts and their words, lines or records."""
        return self.measure(documents.texts)

    def measure_and_edit(
        self, documents: Documents
    ) -> tuple[Mapping[str, np.ndarray | list[str | None]], Cuts]:
        """Return the values and the cuts, for a filter with edits."""
        raise NotImplementedError

    def drops(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return bool (documents,): which documents to drop, by their values alone. By default,
        those beyond a limit."""
        return self.beyond(values) > 0

    def beyond(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return uint8 (documents,): the number of the first limit exceeded, from 1; 0 for none."""
        import numpy as np

        from corpusmill.mill.filters.limits import beyond

        found = np.zeros(len(values["text_bytes"]), np.uint8)
        for place, limit in reversed(list(enumerate(self.limits, 1))):
            bound = getattr(self, limit.setting)
            if bound is not None:
                found[beyond(values[limit.value], limit.side, bound)] = place
        return found

    def faults(self) -> Iterator[str]:
        """Yield faults of the settings that their schemas cannot express."""
        yield from ()


def needs_of(cls: type[Filter]) -> frozenset[str]:
    """Return the NEEDS that a filter may use."""
    if cls.needs is not None:
        return frozenset(cls.needs)
    takes_documents = cls.measure_documents is not Filter.measure_documents or bool(cls.edits)
    split = {"words", "lines"} if takes_documents else set()
    return frozenset(split | ({"records"} if cls.reads_records else set()))
