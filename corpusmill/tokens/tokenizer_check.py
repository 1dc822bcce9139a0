"""Whether a folder holds a tokenizer that has ids for plain text: `... tokenizer_check FOLDER`.

A process of its own beside the start of a run, before any job; so it loads as little as it can.
"""

import sys
from pathlib import Path

import msgspec

from corpusmill.tokens.probes import PLAIN, refuse_useless


class _Model(msgspec.Struct):
    unk_token: str | None = None
    unk_id: int | None = None


class _Added(msgspec.Struct):
    content: str
    special: bool = False


class _Definition(msgspec.Struct):
    """As much of tokenizer.json as is asked here; the vocabulary is skipped."""

    model: _Model
    added_tokens: list[_Added] = []


def ids_of_definition(path: Path) -> tuple[list[list[int]], set[int | None]]:
    """The ids of PLAIN by a tokenizer.json, and its unknown ids."""
    from tokenizers import Tokenizer

    written = path.read_bytes()
    tokenizer = Tokenizer.from_buffer(written)
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    model = msgspec.json.decode(written, type=_Definition).model
    unknown = tokenizer.token_to_id(model.unk_token) if model.unk_token else None
    encoded = tokenizer.encode_batch(PLAIN, add_special_tokens=False)
    return [one.ids for one in encoded], {unknown, model.unk_id}


def refuse_no_end(folder: Path, end_of_text: str, definition: Path) -> None:
    """ValueError if the token that is to end documents is no special one of a tokenizer.json."""
    added = msgspec.json.decode(definition.read_bytes(), type=_Definition).added_tokens
    special = [one.content for one in added if one.special]
    # Beside them there are those of tokenizer_config.json, which only the whole library knows.
    if end_of_text not in ("auto", *special) and not any(
        end_of_text in file.read_text("utf-8", "replace")
        for name in ("tokenizer_config.json", "special_tokens_map.json")
        if (file := folder / name).is_file()
    ):
        raise ValueError(
            f"tokenizer.end_of_text: {end_of_text} is no special token of {folder}. "
            f"It has: {', '.join(special) or 'none'}."
        )


def check_tokenizer(folder: Path, end_of_text: str = "auto") -> None:
    """ValueError, in one line, if texts would be lost for sure, or no token can end them."""
    definition = folder / "tokenizer.json"
    if definition.is_file():
        try:
            found, unknown = ids_of_definition(definition)
        except Exception as error:  # the library raises no other class
            raise ValueError(
                f"tokenizer.source: the tokenizers library cannot use {definition} "
                f"({str(error).splitlines()[0]}). Give another folder, a hub id, or train."
            ) from error
    else:
        from corpusmill.tokens.tokenizers import load_reference, reference_ids

        reference = load_reference(str(folder))
        found, unknown = reference_ids(reference, PLAIN), {reference.unk_token_id}
    refuse_useless(str(folder), found, [id for id in unknown if id is not None])
    if definition.is_file():
        refuse_no_end(folder, end_of_text, definition)


if __name__ == "__main__":
    try:
        check_tokenizer(Path(sys.argv[1]), sys.argv[2])
    except ValueError as error:
        sys.exit(str(error))
