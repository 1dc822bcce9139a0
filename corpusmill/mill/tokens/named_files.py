"""Refuse members of a tokenizer's small files that name other files.

transformers opens and writes the files that such members name, wherever they are: outside of the
folder, or without our checks of size.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpusmill.mill.storage.untrusted import whole_file

MOST_SMALL_BYTES = 1 << 24
SMALL = ("tokenizer_config.json", "special_tokens_map.json", "config.json")

NAMES_FILES = re.compile(r".*_(files?|paths?|dir|folder|proto)")
OTHERS = ("tokenizer_object", "vocab", "merges", "init_inputs", "mecab_option")
"""Members that a class of transformers reads as a vocabulary, or passes to another library."""
NEVER_OPENED = ("tokenizer_file", "special_tokens_map_file", "added_tokens_file",
                "tokenizer_config_file", "name_or_path")  # fmt: skip
"""Members with a tokenizer's former path. They are common, and transformers replaces them."""
PLAIN_NAME = re.compile(r"[^/\\\0.][^/\\\0]{0,99}")
"""Allowed name of a chat template, which save_pretrained uses as a file name."""


def refuse_named_files(path: Path, members: dict[str, Any]) -> None:
    """Raise ValueError if a member names a file. path: one of SMALL, with these members."""
    for name in named_files(members):
        raise ValueError(
            f"tokenizer.source: {path}: its member {name:.80} names a file, which may be anywhere "
            "on this machine. Remove this member, or give another tokenizer."
        )
    for name in template_names(members.get("chat_template")):
        if not (isinstance(name, str) and PLAIN_NAME.fullmatch(name)):
            raise ValueError(
                f"tokenizer.source: {path}: expected a plain name for each chat template, found "
                f"{name!r:.80}. Rename it, or give another tokenizer."
            )


def named_files(members: dict[str, Any]) -> Iterator[str]:
    for name, value in members.items():
        if name.endswith("_kwargs") and isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner in named_files(value))
        elif value and name not in NEVER_OPENED and (NAMES_FILES.fullmatch(name) or name in OTHERS):
            yield name


def template_names(templates: Any) -> Iterator[Any]:
    if isinstance(templates, dict):
        yield from templates
    elif isinstance(templates, list):
        yield from (one.get("name") if isinstance(one, dict) else one for one in templates)


def refuse_named_files_below(folder: Path) -> None:
    """Raise ValueError if a small file in a folder or its subfolders names a file.

    Some classes load one tokenizer per subfolder.
    """
    for inner in tokenizer_folders(folder):
        refuse_links_out(folder, inner)
        for path in (inner / name for name in SMALL):
            if path.is_file():
                refuse_files_named_in(path)


def refuse_links_out(folder: Path, inner: Path) -> None:
    """Raise ValueError for a link that leads out of a tokenizer's folder: what it leads to would
    become part of the corpus. Links of a snapshot in the hub's cache lead to its blobs."""
    top = os.path.realpath(folder)
    inside = [top]
    if os.path.basename(os.path.dirname(top)) == "snapshots":
        inside.append(os.path.join(os.path.dirname(os.path.dirname(top)), "blobs"))
    for path in [inner, *inner.iterdir()]:
        real = os.path.realpath(path)
        if path != folder and path.is_symlink() and not any(
            os.path.commonpath([one, real]) == one for one in inside
        ):  # fmt: skip
            raise ValueError(
                f"tokenizer.source: {path} is a symlink out of the folder. Copy the file "
                "into it, or remove the link."
            )


def refuse_files_named_in(path: Path) -> None:
    """Raise ValueError if a small file names a file. path: one of SMALL."""
    written = whole_file(path, MOST_SMALL_BYTES)
    try:
        members = json.loads(written)
        if not isinstance(members, dict):
            raise ValueError("Expected `object`, got another value")
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"tokenizer.source: {path} is not a valid tokenizer file ({error}). "
            "Copy the tokenizer again."
        ) from error
    refuse_named_files(path, members)


def tokenizer_folders(folder: Path) -> list[Path]:
    """Return the folder of a tokenizer and its subfolders."""
    return [folder, *sorted(path for path in folder.glob("*") if path.is_dir())]
