"""Ids of every document, and what decoding them does not give back."""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from qa.oracle.document import Document, Outcome


@dataclass
class Loss:
    characters: int
    lost: int
    unknown: int
    without_token: int


class Tokens:
    """A tokenizer, and the ids of the documents of a run."""

    def __init__(self, folder: Path, config: dict):
        # Loading transformers takes seconds, which a refused run need not wait for.
        from transformers import AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(str(folder))
        self.most_lost = config["tokenizer"].get("max_lost_fraction", 0.001)
        wanted = config["tokenizer"]["end_of_text"]
        self.end_of_text = (
            self.tokenizer.eos_token_id
            if wanted == "auto"
            else self.tokenizer.convert_tokens_to_ids(wanted)
        )
        highest = max(self.tokenizer.get_vocab().values())
        self.vocabulary = max(len(self.tokenizer), highest + 1)
        self.dtype = "uint16" if self.vocabulary <= 65_536 else "uint32"
        self.unknown = self.unknown_ids(folder)
        self.ids = cache(self.encode_text)
        self.loss = cache(self.measure_loss)

    def unknown_ids(self, folder: Path) -> set[int]:
        """Of the model's unknown token and of transformers' own, but not of end of text."""
        model_file = folder / "tokenizer.json"
        model = json.loads(model_file.read_text())["model"] if model_file.exists() else {}
        token = model.get("unk_token")
        if token is None and isinstance(model.get("unk_id"), int):
            token = model["vocab"][model["unk_id"]][0]
        found = {self.tokenizer.unk_token_id}
        if token is not None:
            found.add(self.tokenizer.get_vocab().get(token))
        return found - {None, self.end_of_text}

    def encode_text(self, text: str) -> list[int]:
        found = self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)
        return found["input_ids"]

    def measure_loss(self, text: str) -> Loss:
        ids = self.ids(text)
        known = [id_ for id_ in ids if id_ not in self.unknown]
        decoded = self.tokenizer.decode(
            known, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        normalizer = getattr(getattr(self.tokenizer, "backend_tokenizer", None), "normalizer", None)
        normalized = normalizer.normalize_str(text) if normalizer else text
        lost = min(missing(text, decoded), missing(normalized, decoded))
        return Loss(len(text), lost, len(ids) - len(known), int(not ids))

    def encode(self, outcome: Outcome) -> str | None:
        """Encode all documents that are written; why the run is refused, if it is."""
        written = [row[3] for rows in outcome.shards.values() for row in rows]
        for source in outcome.sources():
            losses = [self.loss(d.text) for d in written if d.source == source]
            lost, characters = sum(x.lost for x in losses), sum(x.characters for x in losses)
            if lost > self.most_lost * characters:
                return f"{source}: {lost} of {characters} characters are lost"
        return None

    def losses(self, documents: list[Document]) -> dict[str, int]:
        found = [self.loss(document.text) for document in documents]
        return {
            "characters": sum(loss.characters for loss in found),
            "lost_characters": sum(loss.lost for loss in found),
            "unknown_tokens": sum(loss.unknown for loss in found),
            "documents_without_token": sum(loss.without_token for loss in found),
        }


def missing(wanted: str, decoded: str) -> int:
    """Characters that `wanted` has more of than `decoded`."""
    return sum((Counter(wanted) - Counter(decoded)).values())
