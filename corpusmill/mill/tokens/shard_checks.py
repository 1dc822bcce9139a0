"""Checks of a finished shard, read back from disk as a trainer would read it."""

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from corpusmill.messages.plain_text import shown_lines
from corpusmill.messages.progress import Progress
from corpusmill.mill.shuffle.text_shards import read_shard
from corpusmill.mill.storage.files import load_json
from corpusmill.mill.storage.sums import CheckedFile, load_sums
from corpusmill.mill.storage.tables import load_parquet
from corpusmill.mill.tokens.token_shards import TokenFiles, TokenShard
from corpusmill.mill.tokens.tokenizers import (
    TokenizerFacts,
    as_it_may_come_back,
    decoded,
    gives_back,
    reference_ids,
)

SAMPLED_DOCUMENTS = 24
SAMPLED_CHARS = 20_000  # the reference is slow: decode only the start of a longer document
SAMPLED_TOKENS = 4096
BLOCK_TOKENS = 1 << 22
WINDOW_TOKENS = 1024
EYE_CHARS = 400


def sampled_rows(documents: int) -> list[int]:
    """Return rows spread evenly from the first to the last."""
    count = min(documents, SAMPLED_DOCUMENTS)
    return sorted({int(row) for row in np.linspace(0, documents - 1, count)}) if count else []


def file_faults(files: TokenFiles, facts: dict, setting: TokenizerFacts) -> Iterator[str]:
    """Yield faults if files are not those that the facts describe; then reading them is unsafe."""
    size = files.bin.stat().st_size
    if (facts["dtype"], facts["vocabulary"]) != (setting.dtype, setting.vocabulary):
        made_for = f"a vocabulary of {facts['vocabulary']} {facts['dtype']} ids"
        yield f"{files.bin}: the shard was made for {made_for}, but the tokenizer changed"
    if size != facts["tokens"] * np.dtype(setting.dtype).itemsize:
        expected = f"{facts['tokens']} tokens of {setting.dtype}"
        yield f"{files.bin}: {size} bytes on disk, expected {expected}"
    yield from sha256_faults(files.bin, facts["sha256"])
    yield from sha256_faults(files.idx, facts["index_sha256"])


def sha256_faults(path: Path, expected: str) -> Iterator[str]:
    """Yield a fault if a file was written with another SHA-256.

    Not computed again: `shard_faults` compares every block of the file with its own checksum.
    """
    if (found := load_sums(path).sha256) != expected:
        yield f"{path}: SHA-256 is {found}, expected {expected}"


def index_faults(shard: TokenShard) -> Iterator[str]:
    """Yield a fault if the index does not divide the tokens into all documents, none empty."""
    starts, documents = shard.starts.astype(np.int64), shard.facts["documents"]
    if starts.size != documents + 1:
        yield f"the index has {starts.size} entries, expected {documents + 1}"
    elif starts[0] != 0 or starts[-1] != shard.tokens.size or (np.diff(starts) < 1).any():
        yield f"the index does not divide {shard.tokens.size} tokens into {documents} documents"


def placement_faults(placements: Path, files: TokenFiles) -> Iterator[str]:
    """Yield faults if a table of placements and the index disagree."""
    shard = TokenShard(files)
    table = load_parquet(placements)
    starts = shard.starts
    expected = {
        "row": np.arange(starts.size - 1),
        "token_start": starts[:-1],
        "token_end": starts[1:],
        "shard": np.full(starts.size - 1, int(files.bin.stem)),
        "split": np.full(starts.size - 1, files.bin.parent.name, object),
    }
    for name, values in expected.items():
        found = table.column(name).to_numpy()
        if found.size != values.size or (found != values).any():
            yield f"{placements}: {name} differs from {files.idx} ({values.size} documents)"
    sources = Counter(table.column("source").to_pylist())
    if sources != {name: count["documents"] for name, count in shard.facts["by_source"].items()}:
        yield f"{placements}: documents by source are {dict(sources)}, but not in {files.facts}"


def token_faults(shard: TokenShard, setting: TokenizerFacts) -> Iterator[str]:
    """Yield the faults of all ids of a shard."""
    tokens, documents = shard.tokens, shard.facts["documents"]
    highest, ends = -1, 0
    for start in range(0, tokens.size, BLOCK_TOKENS):
        block = tokens[start : start + BLOCK_TOKENS]
        highest = max(highest, int(block.max()))
        ends += int((block == setting.end_of_text_id).sum())
    if highest >= setting.vocabulary:
        yield f"token id {highest}, but the tokenizer has {setting.vocabulary} tokens"
    if ends != documents:
        yield f"{ends} end-of-text tokens, expected one per document: {documents}"
    last = shard.starts[1:] - np.uint64(1)
    if (tokens[last.astype(np.int64)] != setting.end_of_text_id).any():
        yield "a document of the index does not end with the end-of-text token"


def alignment_faults(bin: Path, setting: TokenizerFacts, tokens: int) -> Iterator[str]:
    """Yield faults if windows, read like a trainer, are not inputs and labels shifted by one."""
    dtype = np.dtype(setting.dtype).newbyteorder("<")
    block = min(WINDOW_TOKENS, tokens - 1)
    if block < 2:
        return
    for start in np.linspace(0, tokens - 1 - block, 8).astype(int).tolist():
        x = np.fromfile(bin, dtype, block, offset=start * dtype.itemsize)
        y = np.fromfile(bin, dtype, block, offset=(start + 1) * dtype.itemsize)
        if not (x[1:] == y[:-1]).all():
            yield f"inputs and labels at token {start} are not shifted by one"


def starts_with(reference: Any, ids: list[int], text: str) -> bool:
    """Say whether ids decode to the start of a text."""
    start = decoded(reference, ids)
    # The last id may end inside a character, and a normalizer may join it with the next.
    start = start[: max(len(start) - 8, 0)]
    beginning = text[: 4 * len(start) + 64]
    return any(form.startswith(start) for form in as_it_may_come_back(reference, beginning))


def stand_in_order(pieces: list[str], whole: str) -> bool:
    place = 0
    for piece in pieces:
        place = whole.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    return True


def pieces_come_back(reference: Any, ids: list[int], text: str, lossy: set[int], cut: bool) -> bool:
    """Say whether the ids between lossy tokens decode to pieces of the text, in order.

    cut: the document continues after the last id.
    """
    ends = [place for place, id in enumerate(ids) if id in lossy]
    bounds = itertools.pairwise([-1, *ends, len(ids)])
    pieces = [decoded(reference, ids[start + 1 : end]) for start, end in bounds]
    if cut:
        pieces[-1] = pieces[-1][: max(len(pieces[-1]) - 8, 0)]
    pieces = [piece.strip() for piece in pieces]
    return any(stand_in_order(pieces, form) for form in as_it_may_come_back(reference, text))


def comes_back(reference: Any, ids: np.ndarray, text: str, setting: TokenizerFacts) -> bool:
    """Say whether ids decode to their text, as far as the tokenizer allows."""
    if not setting.lossless:
        return True
    cut = len(text) > SAMPLED_CHARS
    seen = ids[:SAMPLED_TOKENS].tolist() if cut else ids.tolist()
    lossy = set(setting.lossy_tokens.values())
    if not lossy.isdisjoint(seen):
        return pieces_come_back(reference, seen, text, lossy, cut)
    return (starts_with if cut else gives_back)(reference, seen, text)


def sample_faults(
    shard: TokenShard,
    text: Path,
    placements: Path,
    reference: Any,
    setting: TokenizerFacts,
    progress: Progress,
) -> Iterator[str]:
    """Yield faults of sampled documents, and if text and tokens have different documents."""
    rows = set(sampled_rows(shard.facts["documents"]))
    placed = load_parquet(placements).select(["id", "copy", "source"])
    documents = 0
    for row, document in enumerate(read_shard(text, progress, rows)):
        documents += 1
        if document is None:
            continue
        # gather and encode each read the scatter files.
        if [msgspec.structs.asdict(document.corpusmill)] != placed.slice(row, 1).to_pylist():
            yield f"row {row} of {text} is another document than in {placements}"
        ids = shard.document(row)[:-1]
        if not comes_back(reference, ids, document.text, setting):
            yield f"document {row} does not decode back to its text"
        if len(document.text) > SAMPLED_CHARS:
            continue
        (expected,) = reference_ids(reference, [document.text])
        if ids.tolist() != expected:
            yield (
                f"the ids of document {row} differ from those of the reference tokenizer. If the "
                "shard is undamaged, set tokenizer.engine to reference"
            )
    if documents != shard.facts["documents"]:
        in_tokens = shard.facts["documents"]
        yield f"{in_tokens} documents in the token shard, {documents} in the text shard"


def eye_test(shard: TokenShard, reference: Any, name: str) -> str:
    """Return start, middle and end of the shard, decoded, for a person to read."""
    tokens = shard.tokens.size
    lines = []
    for label, at in (("start", 0), ("middle", tokens // 2), ("end", max(0, tokens - 150))):
        text = decoded(reference, shard.tokens[at : at + 150].tolist())
        lines.append(
            f"--- {name}, {label} (token {at} of {tokens})\n{shown_lines(text[:EYE_CHARS])}\n"
        )
    return "\n".join(lines)


def shard_faults(
    text: Path,
    text_facts: Path,
    files: TokenFiles,
    placements: Path,
    reference: Any,
    setting: TokenizerFacts,
    progress: Progress,
) -> tuple[list[str], str]:
    """Return the faults of a shard, and its eye test; "" if it has faults.

    Raise DamagedError for the first file with a damaged block.
    """
    facts = load_json(files.facts)
    faults = list(file_faults(files, facts, setting))
    faults += sha256_faults(text, load_json(text_facts)["sha256"])
    if text.suffix == ".parquet":  # below, only some columns of it are read
        whole = CheckedFile(text)
        whole.check(0, whole.size)
    if faults:
        return faults, ""
    shard = TokenShard(files)
    faults = [f"{files.idx}: {fault}" for fault in index_faults(shard)]
    if faults:
        return faults, ""
    for some in (
        token_faults(shard, setting),
        alignment_faults(files.bin, setting, shard.tokens.size),
        sample_faults(shard, text, placements, reference, setting, progress),
    ):
        faults.extend(f"{files.bin}: {fault}" for fault in some)
    return faults, eye_test(shard, reference, f"{files.bin.parent.name}/{files.bin.name}")
