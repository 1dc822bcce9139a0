"""Readable tokens: decoded, with special tokens named."""

from itertools import groupby
from pathlib import Path
from typing import Any

from corpusmill.messages.plain_text import shown, shown_lines
from corpusmill.mill.storage.untrusted import load_plain_json
from corpusmill.mill.tokens.tokenizers import TokenizerFacts, decoded, load_received


class Decoder:
    """The tokenizer kept by a run."""

    def __init__(self, results: Path) -> None:
        folder = results / "tokenizer"
        facts = TokenizerFacts.load(folder)
        self._tokenizer: Any = load_received(folder, facts)
        self.special = {facts.end_of_text_id: facts.end_of_text}
        definition = folder / "tokenizer.json"
        if definition.exists():
            added = load_plain_json(definition).get("added_tokens", [])
            self.special |= {one["id"]: one["content"] for one in added if one["special"]}
        self.unknown = facts.unknown_ids

    def name(self, id: int) -> str:
        """Decode one id; return its number if it is part of a character."""
        if id in self.special:
            return self.text([id])
        text = self.text([id])
        return f"id {id}" if "\ufffd" in text else repr(text)

    def text(self, ids: list[int]) -> str:
        """Decode ids. Special tokens appear as ⟦name⟧, unlike text that looks like one."""
        pieces = []
        for is_special, run in groupby(ids, self.special.__contains__):
            if is_special:
                pieces += [f"⟦{shown(self.special[id])}⟧" for id in run]
            else:
                pieces.append(shown_lines(decoded(self._tokenizer, list(run))))
        return "".join(pieces)
