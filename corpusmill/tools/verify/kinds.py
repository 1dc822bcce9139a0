"""The kinds of files that a run keeps: their folders and the rules that make them."""

import posixpath
import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

from corpusmill.mill.decide.fates import STAGE_NAME

MANIFEST = "manifest.json"
EXPORTS, EXPORT, BEGUN_EXPORT = "exports", "export.json", ".export-begun.json"
"""Names of the folder of exports, of the description of a complete export, and of that of an
unfinished export."""


class Kind(NamedTuple):
    """Files of a folder with one of these endings."""

    folder: str
    endings: tuple[str, ...]
    rule: str
    beginning: str = ""


OF_SHARDS = [
    Kind("corpus", (".jsonl.zst", ".parquet", ".json"), "gather"),
    Kind("tokens", (".npy", ".json"), "pack", "pack-"),
    Kind("tokens", (".npy", ".json"), "label", "groups."),
    Kind("tokens", (".bin", ".idx", ".json"), "encode"),
    Kind("placements", (".parquet",), "encode"),
]
"""Kinds of files in a folder for each split."""

KINDS = [
    *OF_SHARDS,
    Kind("tokens", (".bin", ".json"), "join"),
    Kind("tokens", (".pkl",), "manifest"),
    Kind("tokenizer", ("",), "tokenizer"),
    Kind("ledger", (".parquet",), "ledger"),
    Kind("clusters", (".parquet",), "assign"),
    Kind("quarantine", (".jsonl",), "normalize"),
    Kind("cut", (".parquet",), "cut"),
    Kind("edited", (".parquet",), "measure"),
]
"""Programs that read a whole folder take files with these endings for parts of the corpus. Files
with other endings and hidden files are intermediate files, or files of other software."""

ALONE = {"eye_test.txt": "manifest", MANIFEST: "manifest", "tokens/meta.pkl": "manifest",
         "summary.json": "summarize"}  # fmt: skip
"""Rules of single files."""


def looks_ours(name: str) -> bool:
    """Say whether programs that read our folders recursively would take a file for ours."""
    top, *inside = name.split("/")
    return bool(inside) and not any(part.startswith(".") for part in inside) and any(
        name.endswith(kind.endings) for kind in KINDS if kind.folder.split("/")[0] == top
    )  # fmt: skip


def rule_of(name: str) -> str | None:
    """Return the rule that makes a file, by its name below the results; None if it is not kept."""
    if name in ALONE:
        return ALONE[name]
    if name.startswith(f"{EXPORTS}/"):
        return "export"
    folder, base = posixpath.split(name)
    if not base or base.startswith("."):
        return None
    top, _, split = folder.partition("/")
    if re.fullmatch(STAGE_NAME, split):
        for kind in OF_SHARDS:
            its = base.startswith(kind.beginning) and base.endswith(kind.endings)
            if top == kind.folder and its:
                return kind.rule
    for kind in KINDS[len(OF_SHARDS) :]:
        # A tokenizer may have subfolders.
        inside = folder == kind.folder or (kind.endings == ("",) and f"{folder}/".startswith(
            f"{kind.folder}/"))  # fmt: skip
        if inside and base.startswith(kind.beginning) and base.endswith(kind.endings):
            return kind.rule
    return None


def way_out(name: str) -> str:
    """Say how to restore a damaged file. The manifest has to be removed too: rules run only if the
    manifest, which requires all kept files, is missing."""
    rule = rule_of(name)
    if name == MANIFEST or rule is None:
        return f"copy it again; or remove {MANIFEST} and run again: rule manifest rebuilds it"
    gone = "the folder tokenizer" if rule == "tokenizer" else name
    return f"copy it again; or remove {gone} and {MANIFEST} and run again: rule {rule} rebuilds it"


class Advice(NamedTuple):
    """Advice on a corpus by its place. Both functions take a file name."""

    damaged: Callable[[str], str]
    foreign: Callable[[str], str]
    no_manifest: str


LOCAL = Advice(
    way_out,
    "move {} out of the results".format,
    "Name the results folder of a run, or finish the run: corpusmill run",
)
COPIED = Advice(
    "copy {} again from the original results folder".format,
    "remove {} from the server".format,
    "Name the address of a results folder, or of a published corpus.",
)


def published_at(address: str) -> Advice:
    """Return the advice for a publication. address: s3://bucket/name/versions/version, or a
    repository."""
    corpus, _, version = address.rstrip("/").partition("/versions/")
    named = f" --version {shlex.quote(version)}" if version else ""
    publish = f"corpusmill publish RESULTS {shlex.quote(corpus)}{named}"

    def damaged(name: str) -> str:
        if name == MANIFEST and version:
            anew = f"corpusmill unpublish {shlex.quote(corpus)}{named}"
            return f"delete the version ({anew}) and send it again: {publish}"
        return f"send it again from the results that were published: {publish}"

    return COPIED._replace(damaged=damaged, foreign=f"delete {address.rstrip('/')}/{{}}".format)
