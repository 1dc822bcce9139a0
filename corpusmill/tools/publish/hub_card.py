"""What the Hugging Face hub reads at the head of a card."""

from corpusmill.mill.decide.fates import SPLITS
from corpusmill.tools.publish.card import CARD
from corpusmill.tools.publish.contents import Contents, of_bytes

ENDINGS = [".jsonl.zst", ".parquet"]


def with_metadata(contents: Contents) -> Contents:
    """The card says which files are tables of text, as the hub would take all for one table."""
    beside = [
        of_bytes(CARD, metadata(list(contents.listing.files)) + file.data)
        if file.name == CARD else file
        for file in contents.beside
    ]  # fmt: skip
    return contents._replace(beside=beside)


def metadata(names: list[str]) -> bytes:
    tables = [
        (split, ending)
        for split in SPLITS
        for ending in ENDINGS
        if any(name.startswith(f"corpus/{split}/") and name.endswith(ending) for name in names)
    ]
    lines = ["viewer: false"]
    if tables:
        lines = ["configs:", "- config_name: text", "  data_files:"]
        for split, ending in tables:
            lines += [f"  - split: {split}", f"    path: corpus/{split}/*{ending}"]
    return "\n".join(["---", *lines, "---", "", ""]).encode()
