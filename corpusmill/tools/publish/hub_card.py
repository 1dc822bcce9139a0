"""The metadata at the head of a card for the Hugging Face hub."""

from corpusmill.tools.publish.card import CARD, splits_in
from corpusmill.tools.publish.contents import Contents, of_bytes

ENDINGS = [".jsonl.zst", ".parquet"]


def with_metadata(contents: Contents) -> Contents:
    """Add the metadata that names the tables of text. Without it the hub would take all files for
    one table."""
    beside = [
        of_bytes(CARD, metadata(list(contents.listing.files)) + file.data)
        if file.name == CARD else file
        for file in contents.beside
    ]  # fmt: skip
    return contents._replace(beside=beside)


def metadata(names: list[str]) -> bytes:
    tables = [
        (split, ending)
        for split in splits_in(names)
        for ending in ENDINGS
        if any(name.startswith(f"corpus/{split}/") and name.endswith(ending) for name in names)
    ]
    lines = ["viewer: false"]
    if tables:
        lines = ["configs:", "- config_name: text", "  data_files:"]
        for split, ending in tables:
            lines += [f"  - split: {split}", f"    path: corpus/{split}/*{ending}"]
    return "\n".join(["---", *lines, "---", "", ""]).encode()
