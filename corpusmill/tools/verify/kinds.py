"""The files that a run keeps: where they lie, and which rule makes one again."""

import posixpath
import shlex
from collections.abc import Callable
from typing import NamedTuple

from corpusmill.mill.decide.fates import SPLITS

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


def looks_ours(name: str) -> bool:
    """Whether who reads all of our folders, and what lies below them, takes a file for ours."""
    top, *inside = name.split("/")
    return bool(inside) and not any(part.startswith(".") for part in inside) and any(
        name.endswith(kind.endings) for kind in KINDS if kind.folder.split("/")[0] == top
    )  # fmt: skip


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


class Advice(NamedTuple):
    """What a person does about a corpus, by where it lies. Both are asked with a file's name."""

    damaged: Callable[[str], str]
    foreign: Callable[[str], str]
    no_manifest: str


LOCAL = Advice(
    way_out,
    "move {} out of the results".format,
    "Name the results folder of a run, or finish it: corpusmill run",
)
COPIED = Advice(
    "copy {} again from the results folder that it is a copy of".format,
    "remove {} from the server".format,
    "Name the address of a results folder, or of a published corpus.",
)


def published_at(address: str) -> Advice:
    """address: s3://bucket/name/versions/version, or of a repository."""
    corpus, _, version = address.rstrip("/").partition("/versions/")
    named = f" --version {shlex.quote(version)}" if version else ""
    publish = f"corpusmill publish RESULTS {shlex.quote(corpus)}{named}"

    def damaged(name: str) -> str:
        if name == MANIFEST and version:
            anew = f"corpusmill unpublish {shlex.quote(corpus)}{named}"
            return f"take the version away ({anew}) and send it again: {publish}"
        return f"send it again from the results that were published: {publish}"

    return COPIED._replace(damaged=damaged, foreign=f"delete {address.rstrip('/')}/{{}}".format)
