"""What a filter says of itself. A file of yours is as good as one of ours; docs/how-to/extend.md.

    class ManyEmojis(Filter):
        \"\"\"Documents that are mostly emoji.\"\"\"

        fate = "many_emojis"
        settings = {"max_share": share(0.2, "Largest share of emoji among the characters.")}
        values = {"emoji_share": Value("float32", "emoji / characters")}

        limits = (above("emoji_share", "max_share"),)

        def measure(self, texts):
            return {"emoji_share": ...}

Imported while the workflow is read, and so light: whoever measures imports what it takes there.
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
"""Sides of limits that are lists."""
DTYPES = ("bool", "uint8", "uint16", "uint32", "uint64", "int32", "int64", "float32", "float64",
          "text")  # fmt: skip


NEEDS = ("words", "lines", "records")
"""What `documents` gives beside the texts, on demand."""


class Value(NamedTuple):
    """What is measured of every document. A value that is named `reason`, a text, is what the
    ledger shows as the reason."""

    dtype: str
    """One of DTYPES; a text is a str or None, all others are numpy's."""
    meaning: str


class Limit(NamedTuple):
    """Documents whose value is beyond a setting are dropped; none if the setting is null."""

    value: str
    side: str
    """Where the dropped ones are: see the functions that follow. What has no value, NaN or None, is
    on no side but `missing`."""
    setting: str


def below(value: str, setting: str) -> Limit:
    """Texts are compared by their characters."""
    return Limit(value, "below", setting)


def above(value: str, setting: str) -> Limit:
    return Limit(value, "above", setting)


def among(value: str, setting: str) -> Limit:
    """Of a text: those are dropped that the setting, a list, has."""
    return Limit(value, "in", setting)


def outside(value: str, setting: str) -> Limit:
    """Of a text: those are dropped that the setting, a list, has not."""
    return Limit(value, "not in", setting)


def unlike(value: str, setting: str) -> Limit:
    """Of a text: those are dropped in which the setting, a regular expression, is not found."""
    return Limit(value, "not like", setting)


def lacking(value: str, setting: str) -> Limit:
    """Documents without the value are dropped if the setting is `drop`."""
    return Limit(value, "missing", setting)


class Setting(NamedTuple):
    """A key of the filter in the configuration."""

    default: Any
    """None: it has to be given; as a limit: there is none."""
    meaning: str
    schema: dict[str, Any]
    """JSON Schema: its type and limits."""
    is_file: bool = False
    """Whether it names a file that the filter reads: when that changes, all that depends on it."""
    is_member: bool = False
    """Whether it names a member of the records: `check` says so if no first record has it."""


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


def several(
    default: list[str] | None, meaning: str, one_of: list[str] | None = None, least: int = 0
) -> Setting:
    """A list of texts, at least so many."""
    items = {"enum": one_of} if one_of else {"type": "string"}
    schema = {"type": "array", "items": items, "uniqueItems": True, "minItems": least}
    return Setting(default, meaning, schema)


def keep_or_drop(default: str, meaning: str) -> Setting:
    """What becomes of documents without a value, see `lacking`."""
    return text(default, meaning, ["keep", "drop"])


def member(default: str | None, meaning: str) -> Setting:
    """A member of the record beside the text: `url`, or `meta.url` for that of an object."""
    return Setting(default, meaning, {"type": "string"}, is_member=True)


def file(default: str | None, meaning: str) -> Setting:
    """A path from the working directory."""
    return Setting(default, meaning, {"type": "string", "minLength": 1}, is_file=True)


def optional_file(meaning: str) -> Setting:
    """The same; an empty text, the default, is none."""
    return Setting("", meaning, {"type": "string"}, is_file=True)


def word_rule() -> Setting:
    """What a filter takes for a word; see corpusmill/mill/filters/features/words.py."""
    return text(
        "unicode", "How the text is split into words.", ["unicode", "whitespace", "english"]
    )


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
    limits: ClassVar[tuple[Limit, ...]]
    """What drops a document, in this order; the first that it is beyond is the reason. `()` of a
    filter that drops none."""
    edits: ClassVar[Mapping[str, str]] = {}
    """Of a filter that cuts pieces out of texts: why it does, and what that means. The filters
    behind it see what is left."""
    files: ClassVar[tuple[str, ...]] = ()
    """What it reads besides, a list of words for one: when such a file changes, so does all that
    depends on the filter. Paths from the working directory."""

    needs: ClassVar[tuple[str, ...] | None] = None
    """Which of NEEDS it takes from `documents`. Memory is reserved for these alone. Without a
    declaration, a filter with `measure_documents` may take words and lines."""
    reads_records: ClassVar[bool] = False
    """Whether it also takes records, for a filter that does not declare `needs`."""

    if TYPE_CHECKING:

        def __getattr__(self, setting: str) -> Any: ...

    def __init__(self, **settings: Any) -> None:
        self.__dict__.update(settings)

    def measure(self, texts: TextColumn) -> Mapping[str, np.ndarray | list[str | None]]:
        """The values of every document, once; texts: normalized, see read/text_column.py."""
        return {}

    def measure_documents(
        self, documents: Documents
    ) -> Mapping[str, np.ndarray | list[str | None]]:
        """The same by more than the texts: words and lines, and records if it reads them."""
        return self.measure(documents.texts)

    def measure_and_edit(
        self, documents: Documents
    ) -> tuple[Mapping[str, np.ndarray | list[str | None]], Cuts]:
        """The same of a filter with edits, and what it cuts."""
        raise NotImplementedError

    def drops(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """bool (documents,): which are dropped, from the values alone; by the limits, unless a
        filter says otherwise."""
        return self.beyond(values) > 0

    def beyond(self, values: Mapping[str, np.ndarray]) -> np.ndarray:
        """uint8 (documents,): the place of the first limit that each is beyond, from 1 on; 0."""
        import numpy as np

        from corpusmill.mill.filters.limits import beyond

        found = np.zeros(len(values["text_bytes"]), np.uint8)
        for place, limit in reversed(list(enumerate(self.limits, 1))):
            bound = getattr(self, limit.setting)
            if bound is not None:
                found[beyond(values[limit.value], limit.side, bound)] = place
        return found

    def faults(self) -> Iterator[str]:
        """What is wrong with the settings that their limits do not say, in words."""
        yield from ()


def needs_of(cls: type[Filter]) -> frozenset[str]:
    """Those of NEEDS that a filter may take."""
    if cls.needs is not None:
        return frozenset(cls.needs)
    takes_documents = cls.measure_documents is not Filter.measure_documents or bool(cls.edits)
    split = {"words", "lines"} if takes_documents else set()
    return frozenset(split | ({"records"} if cls.reads_records else set()))
