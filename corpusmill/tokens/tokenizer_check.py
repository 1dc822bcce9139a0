"""Whether a folder holds a tokenizer of plain text: `... tokenizer_check FOLDER END_OF_TEXT STATE`.

A process of its own beside the start of a run, before any job; so it loads as little as it can. It
prints the token that will end documents. STATE: `new`, or `kept` if its ids were looked at before.
"""

import sys
from pathlib import Path

import msgspec

from corpusmill.tokens.ends_of_text import DEFINITION, named_in, refuse_guess, refuse_no_special
from corpusmill.tokens.probes import PLAIN, refuse_useless


class _Model(msgspec.Struct):
    unk_token: str | None = None
    unk_id: int | None = None


class _Definition(msgspec.Struct):
    """As much of tokenizer.json as is asked here; the vocabulary is skipped."""

    model: _Model


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


def end_of(folder: Path, end_of_text: str) -> str:
    """The token that will end documents; ValueError, in one line, if it cannot or nobody said."""
    named = named_in(folder)
    if end_of_text != "auto":
        if (folder / DEFINITION).is_file():  # without it the library alone knows all
            refuse_no_special(str(folder), end_of_text, named.special)
        return end_of_text
    if named.eos_token is None:
        from corpusmill.tokens.tokenizer_folder import end_of_text_of
        from corpusmill.tokens.tokenizers import load_reference

        reference = load_reference(str(folder))
        return end_of_text_of(reference, end_of_text, reference.get_vocab())[0]
    refuse_guess(str(folder), named.eos_token, named.special)
    return named.eos_token


def check_tokenizer(folder: Path, end_of_text: str = "auto", kept: bool = False) -> str:
    """The token that will end documents. ValueError, in one line, if texts would be lost for sure,
    or no token can end them.

    kept: its ids were looked at before.
    """
    if not kept:
        refuse_lost_texts(folder)
    return end_of(folder, end_of_text)


def refuse_lost_texts(folder: Path) -> None:
    definition = folder / DEFINITION
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


if __name__ == "__main__":
    try:
        print(check_tokenizer(Path(sys.argv[1]), sys.argv[2], sys.argv[3] == "kept"))
    except ValueError as error:
        sys.exit(str(error))
