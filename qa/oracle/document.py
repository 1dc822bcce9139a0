"""What is known of a document, filled in step by step, and what comes of a whole run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from qa.oracle.plan import InputFile
from qa.oracle.reading import Record
from qa.oracle.spans import Cut
from qa.oracle.strict_json import Member

if TYPE_CHECKING:
    from qa.oracle.dedup import Resolution
    from qa.oracle.tokens import Tokens


@dataclass
class Document:
    id: int
    source: str
    file: str
    line: int
    text: str
    before: str  # the text before spans were cut of it
    members: list[Member]
    cuts: list[Cut] = field(default_factory=list)
    cleaned: str = ""
    digest: bytes = b""
    sketch: tuple[int, ...] = ()
    filter_fate: str = "kept"
    filter_reason: str | None = None
    takes_part: bool = False
    policy: str = "near"  # of its source: with whom it is compared
    value: str | None = None  # of the member that dedup.within names
    cluster_sources: int = 1  # of the documents dropped for it, and its own
    order: tuple = ()  # less is better
    preferred_kind: str = "none"
    preference: bytes | None = None
    winner: int | None = None
    similarity: float | None = None
    stage: str | None = None
    split: str = "train"
    copies: int = 0
    copies_in: dict[str, int] | None = None  # by stage, of a candidate of a mixture
    cells_in: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by stage
    assigned_copies: int = 0  # in the table of `assign`
    fate: str = "kept"
    assigned: str = "kept"  # the fate in the table of `assign`
    held_out_by: str | None = None

    @property
    def text_bytes(self) -> int:
        return len(self.text.encode())


@dataclass
class Part:
    """Documents of a part in row order, and its malformed records with their files."""

    files: list[InputFile]
    generation: int = 1
    documents: list[Document] = field(default_factory=list)
    malformed: list[tuple[InputFile, Record]] = field(default_factory=list)


@dataclass
class Outcome:
    """A run as it has to be. `refused`: why it has to end red, else None."""

    config: dict
    folder: Path = Path()
    parts: list[Part] = field(default_factory=list)
    refused: str | None = None
    held_out_records: dict[str, dict[str, int]] = field(default_factory=dict)
    evaluation: set[bytes] = field(default_factory=set)
    held_out: dict[bytes, str] = field(default_factory=dict)
    resolution: Resolution | None = None
    shard_counts: dict[str, int] = field(default_factory=dict)
    shards: dict[tuple[str, int], list[tuple[int, int, int, Document]]] = field(
        default_factory=dict
    )
    tokens: Tokens | None = None
    packed: dict[tuple[str, int], list[list[tuple[int, int]]]] = field(default_factory=dict)
    """Split and length -> rows -> start and end of their pieces in the stream of the split."""
    mixture: dict | None = None
    """Stage or train -> cell -> documents, size, reached size, documents by copies."""
    order: dict[str, list[dict]] = field(default_factory=dict)
    """Stage or train -> bands of a curriculum: documents, copies, size."""

    def copies_of(self, document: Document) -> dict[str, int]:
        """Copies of a document by the split or stage whose shards have them."""
        if document.copies_in is not None and document.split == "train":
            return document.copies_in
        return {document.split: document.copies}

    def documents(self) -> Iterator[Document]:
        for part in self.parts:
            yield from part.documents

    def tokenizer_name(self) -> str:
        """`train`, a hub id, or the base name of a folder."""
        source = self.config["tokenizer"]["source"]
        return Path(source).name if (self.folder / source).is_dir() else source

    def sources(self) -> list[str]:
        """Names of the milled sources."""
        return [s["name"] for s in self.config["sources"] if not s.get("held_out")]
