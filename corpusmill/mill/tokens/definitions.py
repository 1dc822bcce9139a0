"""Check that tokenizer.json is within reasonable bounds, before a library loads it.

The libraries load any file, and a few bytes can keep them busy for hours: sixteen normalizers that
turn each letter into four, or half a million added tokens.
"""

import math
from typing import Any

import msgspec

from corpusmill.mill.tokens.vocabulary import MOST_IDS

MOST_STEPS = 64
"""Maximum number of steps of a normalizer or of another part. A Persian tokenizer has about 30."""
MOST_DEPTH = 16
MOST_VALUES = 20_000
"""Maximum number of values in one part. A template with 1,000 special tokens has half as many."""
MOST_CHARS = 10_000
"""Maximum length of a string in characters. The longest pattern of a known tokenizer has about
1,000."""
MOST_PART_BYTES = 1 << 22
"""Maximum size of one part in the file, in bytes. A table of NFKC (precompiled_charsmap) has 0.4
MB."""
MOST_GROWTH = 256
"""Maximum number of characters that the steps of one part may make from one character."""
MOST_ADDED = 100_000
MOST_ADDED_CHARS = 1 << 22
"""Maximum number of characters in all added tokens together."""

TABLE = "precompiled_charsmap"


class _Added(msgspec.Struct):
    id: int
    content: str


class _Model(msgspec.Struct):
    vocab: dict[str, int] | list[msgspec.Raw] = {}
    unk_token: str | None = None
    unk_id: int | None = None
    continuing_subword_prefix: str | None = None
    end_of_word_suffix: str | None = None
    max_input_chars_per_word: int = 0
    dropout: float | None = None


class Definition(msgspec.Struct):
    """The members of tokenizer.json that are checked here."""

    model: _Model
    added_tokens: list[_Added] = []
    normalizer: msgspec.Raw = msgspec.Raw(b"null")
    pre_tokenizer: msgspec.Raw = msgspec.Raw(b"null")
    post_processor: msgspec.Raw = msgspec.Raw(b"null")
    decoder: msgspec.Raw = msgspec.Raw(b"null")


def bounded_definition(written: bytes) -> Definition:
    """Return the members of a tokenizer.json; raise ValueError for those beyond the bounds."""
    try:
        found = msgspec.json.decode(written, type=Definition)
        for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
            _hold_part(name, getattr(found, name))
    except RecursionError:
        raise ValueError(f"more than {MOST_DEPTH} levels") from None
    _hold_model(found.model)
    _hold_added(found.added_tokens)
    return found


def _at_most(what: str, most: int, found: float, unit: str) -> None:
    if found > most:
        count = f"{found:,}" if found < 1e15 else "more"
        raise ValueError(f"{what}: expected at most {most:,} {unit}, found {count}")


def _hold_part(name: str, written: msgspec.Raw) -> None:
    _at_most(name, MOST_PART_BYTES, len(bytes(written)), "bytes")
    part, level, values = msgspec.json.decode(written), [], 0
    steps: list[dict[str, Any]] = []
    level = [("", part)]
    for _ in range(MOST_DEPTH):
        values += len(level)
        _at_most(name, MOST_VALUES, values, "values")
        for key, value in level:
            if isinstance(value, str) and key != TABLE:
                _at_most(f"{name}: a string", MOST_CHARS, len(value), "characters")
            if isinstance(value, dict) and "type" in value:
                steps.append(value)
        level = [one for _, value in level for one in _inner(value)]
    _at_most(name, MOST_DEPTH, MOST_DEPTH + bool(level), "levels")
    _at_most(name, MOST_STEPS, len(steps), "steps")
    growth = math.prod(_growth(name, step) for step in steps)
    _at_most(f"{name}: all steps together", MOST_GROWTH, growth, "output characters per character")


def _inner(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return [*value.items(), *(("", key) for key in value)]
    return [("", one) for one in value] if isinstance(value, list) else []


def _growth(part: str, step: dict[str, Any]) -> int:
    """Return how many characters a step makes from one, at most; 1 for harmless steps."""
    if part == "pre_tokenizer" and step["type"] == "ByteLevel":
        return 2  # each byte that is not a letter becomes a character of two bytes
    if step["type"] == "Replace" and isinstance(step.get("content"), str):
        return max(1, len(step["content"])) + _matches_nothing(step.get("pattern"))
    return 1


def _matches_nothing(pattern: object) -> bool:
    """Say whether a pattern matches the empty string, and so adds to every character."""
    import regex  # few tokenizers need it

    match pattern:
        case {"String": str(said)}:
            return not said
        case {"Regex": str(said)}:
            try:
                return regex.match(said, "", timeout=1) is not None
            except (regex.error, TimeoutError):
                return True
    return False


def _hold_model(model: _Model) -> None:
    # Loading it takes an array up to the highest id.
    ids = model.vocab.values() if isinstance(model.vocab, dict) else [len(model.vocab) - 1]
    _at_most("model.vocab", MOST_IDS, max(ids, default=0) + 1, "ids")
    for name in ("unk_token", "continuing_subword_prefix", "end_of_word_suffix"):
        _at_most(f"model.{name}", MOST_CHARS, len(getattr(model, name) or ""), "characters")
    # The time for a word grows with its square.
    found = model.max_input_chars_per_word
    _at_most("model.max_input_chars_per_word", MOST_CHARS, found, "characters")
    if model.dropout:
        raise ValueError(
            "model.dropout: expected none, because dropout gives different ids in every run"
        )


def _hold_added(tokens: list[_Added]) -> None:
    _at_most("added_tokens", MOST_ADDED, len(tokens), "tokens")
    sizes = [len(token.content) for token in tokens]
    _at_most("added_tokens: a token", MOST_CHARS, max(sizes, default=0), "characters")
    _at_most("added_tokens", MOST_ADDED_CHARS, sum(sizes), "characters in all")
    _at_most("added_tokens", MOST_IDS, max((t.id + 1 for t in tokens), default=0), "ids")
