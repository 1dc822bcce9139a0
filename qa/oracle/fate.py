"""What is decided by keyed hashes, and which documents of train are held out."""

import hashlib
import math

from qa.oracle.document import Document, Outcome

WRAP = 2**64
ORIGINS = ("validation", "test", "evaluation")


def mix(x: int) -> int:
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 % WRAP
    x ^= x >> 27
    x = x * 0x94D049BB133111EB % WRAP
    return x ^ x >> 31


def keyed_hash(seed: int, purpose: str, id_: int) -> int:
    key = hashlib.sha256(f"corpusmill/{seed}/{purpose}".encode()).digest()
    a, b = int.from_bytes(key[:8], "little"), int.from_bytes(key[8:16], "little")
    return mix((mix(id_ ^ a) + b) % WRAP)


def fraction(hash_: int) -> float:
    return (hash_ >> 11) / 2**53


def split_of(id_: int, config: dict) -> str:
    share = fraction(keyed_hash(config["shuffle"]["seed"], "split", id_))
    validation, test = config["splits"]["validation"], config["splits"]["test"]
    if share < validation:
        return "validation"
    return "test" if share < validation + test else "train"


def copies_of(id_: int, split: str, weight: float, seed: int) -> int:
    share = fraction(keyed_hash(seed, "sample", id_))
    copies = math.floor(weight) + (share < weight - math.floor(weight))
    return copies if split == "train" else min(1, copies)


def order_key(id_: int, copy: int, copies: int, seed: int, purpose: str = "order") -> int:
    """The key of one copy of a document in the shuffled order."""
    return (keyed_hash(seed, purpose, id_) + copy * ((WRAP - 1) // copies)) % WRAP


def decide(documents: list[Document], config: dict) -> None:
    """Split, copies and fate of every document; contamination is not known yet."""
    weights = {source["name"]: source.get("weight", 1) for source in config["sources"]}
    seed, min_sources = config["shuffle"]["seed"], config["dedup"]["min_sources"]
    mixture = config["mixture"]
    mixes = config["stages"] or mixture["budget"] is not None or mixture["copies"]
    for document in documents:
        document.split = split_of(document.id, config)
        weight = weights[document.source]
        if mixes and document.split == "train":
            weight = 1 if weight else 0
        copies = copies_of(document.id, document.split, weight, seed)
        if document.filter_fate != "kept":
            document.fate = document.filter_fate
        elif document.winner is not None:
            document.fate = "duplicate"
        elif document.policy != "none" and document.cluster_sources < min_sources:
            document.fate = "few_sources"
        elif copies == 0:
            document.fate = "not_sampled"
        else:
            document.copies = document.assigned_copies = copies
        document.assigned = document.fate if document.filter_fate == "kept" else "kept"


def digests_of(document: Document) -> list[bytes]:
    """SHA-256 of its text as it is, and of the text before spans were cut of it."""
    before = hashlib.sha256(document.before.encode()).digest()
    return [document.digest, before] if document.cuts else [document.digest]


def held_out_digests(outcome: Outcome) -> dict[bytes, str]:
    """SHA-256 of a held-out text -> the first of the origins that hold it."""
    found = {}
    for origin in reversed(ORIGINS):
        if origin == "evaluation":
            found.update(dict.fromkeys(outcome.evaluation, origin))
            continue
        for document in outcome.documents():
            if document.split == origin and document.fate == "kept":
                found.update(dict.fromkeys(digests_of(document), origin))
    return found


def decontaminate(outcome: Outcome) -> None:
    outcome.held_out = held_out_digests(outcome)
    for document in outcome.documents():
        if document.split != "train" or document.fate != "kept":
            continue
        origins = [outcome.held_out.get(digest) for digest in digests_of(document)]
        if found := next((origin for origin in origins if origin), None):
            document.fate, document.held_out_by = "contaminated", found
