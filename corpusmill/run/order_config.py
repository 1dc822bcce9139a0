"""The key `shuffle.order`, and its settings for the steps."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from corpusmill.messages.near_names import meant
from corpusmill.mill.decide.curriculum import Arranging, Curriculum
from corpusmill.mill.decide.fates import SPLITS
from corpusmill.mill.decide.mixture import member_column
from corpusmill.run.mixture_config import Entry, value_faults

if TYPE_CHECKING:
    from corpusmill.run.config import Config

SHUFFLED, AS_FOUND = "shuffled", "as_found"
PLACE = "shuffle.order"
MOST_BANDS = 256


class Order(Entry):
    """A name, or the keys of a curriculum."""

    @classmethod
    def schema(cls) -> dict[str, Any]:
        properties = {
            "by": {
                "type": ["string", "object"],
                "properties": {
                    "member": {
                        "type": "string",
                        "minLength": 1,
                        "description": "Record member with a number, such as score, or meta.score "
                        "for a nested one.",
                    }
                },
                "required": ["member"],
                "additionalProperties": False,
                "description": "duplicates, duplicate_sources, text_bytes, a number that a filter "
                "measures, or a record member.",
            },
            "bands": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_BANDS,
                "description": "Number of bands with about equally many bytes of text. Equal "
                "values are in the same band.",
            },
            "descending": {
                "type": "boolean",
                "default": False,
                "description": "Whether the greatest values come first.",
            },
            "missing": {
                "enum": ["last", "fail"],
                "default": "last",
                "description": "Documents without a value: form a band after all others, or stop "
                "the run.",
            },
        }
        return {"type": ["string", "object"], "properties": properties,
                "required": ["by", "bands"], "additionalProperties": False}  # fmt: skip

    @property
    def is_shuffled(self) -> bool:
        return bool(self.entry == SHUFFLED)

    @property
    def bands(self) -> int:
        """Number of bands; 0 without a curriculum."""
        return self.entry["bands"] if isinstance(self.entry, dict) else 0

    @property
    def member(self) -> str | None:
        """Record member whose values put documents in order."""
        by = self.entry["by"] if isinstance(self.entry, dict) else None
        return by["member"] if isinstance(by, dict) else None

    @property
    def _curriculum(self) -> Curriculum | None:
        told = self.entry
        if not isinstance(told, dict):
            return None
        name = column = told["by"]
        if self.member is not None:
            name, column = self.member, member_column(self.member)
        return Curriculum(name, column, self.bands, told.get("descending", False),
                          told.get("missing", "last"))  # fmt: skip

    def arranging(self, config: "Config") -> Arranging | None:
        """Return the settings of the steps; None if all splits are shuffled."""
        if self.is_shuffled:
            return None
        curriculum = self._curriculum
        written = config.written_splits
        splits = [name for name in written if name not in SPLITS[1:]] if curriculum else written
        return Arranging(splits, curriculum)

    def faults(self, config: "Config") -> Iterator[str]:
        names = [SHUFFLED, AS_FOUND]
        if isinstance(self.entry, str):
            if self.entry not in names:
                yield (
                    f"{PLACE}: expected {SHUFFLED}, {AS_FOUND}, or a curriculum such as {{by: "
                    f"text_bytes, bands: 8}}, got {self.entry}.{meant(self.entry, names)}"
                )
        elif self.member is None:
            by = self.entry["by"]
            if by == "source":
                yield f"{PLACE}.by: sources have names, not numbers. Use stages to order them."
            else:
                yield from value_faults(by, True, f"{PLACE}.by", config)
