"""The README.md of a published corpus: its contents, and how to read it."""

import re
from collections.abc import Iterable
from typing import Any

from corpusmill.messages.markdown import plain, table
from corpusmill.mill.decide.fates import STAGE_NAME, in_order
from corpusmill.mill.report.account_tables import funnel_table
from corpusmill.tools.verify.listing import Listing

CARD = "README.md"

READING = """\
```python
from corpusmill.reader import Batches, Corpus, Shuffled

corpus = Corpus("{address}", cache="shards")
for tokens in Batches(Shuffled(corpus.split("{split}"), length=2048, seed=1), batch_size=8):
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
```
"""


def card_of(listing: Listing, summary: dict[str, Any] | None, address: str) -> str:
    """Return the card in Markdown. It depends only on the corpus, not on time or machine."""
    rows = split_rows(listing)
    split = rows[0][0] if rows else "train"
    name = address.rpartition("@")[0] or address
    lines = [f"# {name.rpartition('/')[2]}", "", "A corpus that corpusmill made.", ""]
    lines += table(["split", "shards", "documents", "tokens"], rows)
    lines += ["", *ends_of_documents(summary), "## Sources", ""]
    if summary is None:
        lines += [", ".join(map(plain, listing.content.get("sources", []))) or "not told", ""]
    else:
        lines += [*funnel_table(summary), ""]
    lines += ["## How to read it", "", READING.format(address=address, split=split)]
    lines += [
        f"`corpusmill verify {address}` reads all files and compares them with their checksums.",
        "",
    ]
    lines += ["## How it was made", ""]
    inputs = listing.content.get("inputs", [])
    size = sum(one.get("bytes", 0) for one in inputs)
    facts = {
        "digest of the manifest": listing.sha256,
        "digest of the configuration": listing.content.get("config_digest", "not told"),
        "generation": listing.content.get("generation", "not told"),
        "input files": f"{len(inputs):,}, {size:,} bytes; manifest.json has the SHA-256 of each",
        "files": f"{len(listing.files):,}, {listing.bytes:,} bytes",
    }
    lines += [f"- {name}: {value}" for name, value in facts.items()]
    return "\n".join(lines) + "\n"


def ends_of_documents(summary: dict[str, Any] | None) -> list[str]:
    """Describe the end-of-text token, which trainers must know."""
    told = (summary or {}).get("tokenizer")
    if told is None:  # written by an earlier corpusmill
        return []
    source, end, id = (plain(told[name]) for name in ("source", "end_of_text", "end_of_text_id"))
    return [f"Tokenizer: {source}. Documents end with {end}, id {id}.", ""]


def splits_in(names: Iterable[str]) -> list[str]:
    """Return the splits whose text or token shards are among files, in order."""
    found = (re.match(rf"(?:corpus|tokens)/({STAGE_NAME})/", name) for name in names)
    return in_order({path[1] for path in found if path})


def split_rows(listing: Listing) -> list[list[str]]:
    """Return shards, documents and tokens of each non-empty split, without joined files."""
    rows = []
    for split in splits_in(listing.files):
        shards = [
            file
            for file in listing.files.values()
            if file.name.startswith(f"tokens/{split}/") and file.name.endswith(".bin")
        ]
        documents = sum(file.documents or 0 for file in shards)
        tokens = sum(file.tokens or 0 for file in shards)
        if shards:
            rows.append([split, *(f"{one:,}" for one in (len(shards), documents, tokens))])
    return rows
