"""The files that a run keeps: where they lie, and which rule makes one again."""

import posixpath
from typing import NamedTuple

from corpusmill.documents.fates import SPLITS

MANIFEST = "manifest.json"
EXPORTS, EXPORT, BEGUN_EXPORT = "exports", "export.json", ".export-begun.json"
"""The folder of exports; what each of them is, and what one is that is not done."""


class Kind(NamedTuple):
    """Files of a folder with one of these endings, whatever else their names are."""

    folder: str
    endings: tuple[str, ...]
    rule: str


KINDS = [
    *(
        kind
        for split in SPLITS
        for kind in (
            Kind(f"corpus/{split}", (".jsonl.zst", ".parquet", ".json"), "gather"),
            Kind(f"tokens/{split}", (".bin", ".idx", ".json"), "encode"),
            Kind(f"placements/{split}", (".parquet",), "encode"),
        )
    ),
    Kind("tokens", (".bin", ".json"), "join"),
    Kind("tokens", (".pkl",), "manifest"),
    Kind("tokenizer", ("",), "tokenizer"),
    Kind("ledger", (".parquet",), "ledger"),
    Kind("clusters", (".parquet",), "assign"),
    Kind("quarantine", (".jsonl",), "normalize"),
    Kind("cut", (".parquet",), "cut"),
    Kind("edited", (".parquet",), "measure"),
]
"""Whoever reads a whole folder takes what ends so for a part of the corpus; other endings, and
names with a dot in front, are intermediate files or nobody's."""

ALONE = {"eye_test.txt": "manifest", MANIFEST: "manifest", "tokens/meta.pkl": "manifest",
         "summary.json": "summarize"}  # fmt: skip
"""The rules of files that no folder is full of."""


def kind_of(name: str) -> Kind | None:
    """The kind of a file by its name below the results; None if it is none that is kept."""
    folder, base = posixpath.split(name)
    if not base or base.startswith("."):
        return None
    for kind in KINDS:
        # A tokenizer may have folders of its own.
        inside = folder == kind.folder or (kind.endings == ("",) and f"{folder}/".startswith(
            f"{kind.folder}/"))  # fmt: skip
        if inside and base.endswith(kind.endings):
            return kind
    return None


def rule_of(name: str) -> str | None:
    if name in ALONE:
        return ALONE[name]
    if name.startswith(f"{EXPORTS}/"):
        return "export"
    kind = kind_of(name)
    return kind and kind.rule


def way_out(name: str) -> str:
    """What makes a damaged file again, for a person. The manifest goes too: it is what asks for
    every file that is kept, and a rule runs only if something asks for what it makes."""
    rule = rule_of(name)
    if name == MANIFEST or rule is None:
        return f"copy it again; or remove {MANIFEST} and run again: rule manifest makes it anew"
    gone = "the folder tokenizer" if rule == "tokenizer" else name
    return (
        f"copy it again; or remove {gone} and {MANIFEST} and run again: rule {rule} makes it anew"
    )
