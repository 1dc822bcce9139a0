"""Check whether a folder holds a tokenizer of plain text.

`... tokenizer_check FOLDER END_OF_TEXT STATE ENGINE` runs in its own process while a run starts, so
it loads as little as possible. It prints the facts as JSON. STATE: `new`, or `kept` if its ids were
checked before.
"""

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from corpusmill.messages.plain_text import shown
from corpusmill.mill.storage.untrusted import load_plain_json, whole_file
from corpusmill.mill.tokens.bounded import (
    bound_this_process,
    first_line,
    is_panic,
    told_of_tokenizer,
)
from corpusmill.mill.tokens.definitions import bounded_definition
from corpusmill.mill.tokens.ends_of_text import (
    DEFINITION,
    Told,
    named_in,
    refuse_guess,
    refuse_no_special,
)
from corpusmill.mill.tokens.named_files import SMALL, tokenizer_folders
from corpusmill.mill.tokens.probes import PLAIN, refuse_useless
from corpusmill.mill.tokens.set_up_before import Asked, vocabulary_of


def ids_of_definition(path: Path) -> tuple[list[list[int]], set[int | None], int]:
    """Return a tokenizer.json's ids of PLAIN, its unknown ids, and the number of its ids."""
    from tokenizers import Tokenizer

    written = whole_file(path)
    model = bounded_definition(written).model
    tokenizer = Tokenizer.from_buffer(written)
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    unknown = tokenizer.token_to_id(model.unk_token) if model.unk_token else None
    encoded = tokenizer.encode_batch(PLAIN, add_special_tokens=False)
    return [one.ids for one in encoded], {unknown, model.unk_id}, ids_in(tokenizer)


def ids_in(tokenizer: Any) -> int:
    """Return a bound above every id. Gaps are searched only below 65,536 ids, where that matters
    and is fast."""
    size: int = tokenizer.get_vocab_size()
    return size if size > 1 << 16 else max(size, *(id + 1 for id in tokenizer.get_vocab().values()))


def end_of(folder: Path, end_of_text: str) -> str:
    """Return the token that ends documents; raise ValueError, in one line, if it is unclear."""
    named = named_in(folder)
    if end_of_text != "auto":
        if (folder / DEFINITION).is_file():  # without it only the library knows all
            refuse_no_special(str(folder), end_of_text, named.special)
        return end_of_text
    if named.eos_token is None:
        from corpusmill.mill.tokens.tokenizer_folder import end_of_text_of
        from corpusmill.mill.tokens.tokenizers import load_reference

        reference = load_reference(str(folder))
        return end_of_text_of(reference, end_of_text, reference.get_vocab())[0]
    refuse_guess(str(folder), named.eos_token, named.special)
    return named.eos_token


def check_tokenizer(
    folder: Path, end_of_text: str = "auto", kept: bool = False, engine: str = "auto"
) -> Told:
    """Return the facts about a tokenizer.

    Raise ValueError, in one line, if texts would certainly be lost, no token can end them, or the
    requested engine gives different ids. kept: whether the last run used it unchanged.
    """
    if kept:
        return Told(end_of(folder, end_of_text), None)
    asked = Asked(end_of_text, engine, folder.resolve().name)
    if before := vocabulary_of(str(folder.resolve()), asked):
        return Told(end_of(folder, end_of_text), before)
    vocabulary = whole_vocabulary(folder)
    end = end_of(folder, end_of_text)
    # Only the library knows whether it works without that code, or with tokenizers inside.
    if own_code(folder) or any((one / SMALL[0]).is_file() for one in tokenizer_folders(folder)[1:]):
        from corpusmill.mill.tokens.tokenizers import load_reference

        load_reference(str(folder))
    if engine == "gigatoken":
        from corpusmill.mill.tokens.tokenizer_folder import keep_tokenizer

        with tempfile.TemporaryDirectory() as place:
            keep_tokenizer(Path(place) / "kept", str(folder), end_of_text, engine)
    return Told(end, vocabulary)


def whole_vocabulary(folder: Path) -> int:
    """Return the number of its ids; raise ValueError if it has none for plain text."""
    definition = folder / DEFINITION
    if definition.is_file():
        try:
            found, unknown, vocabulary = ids_of_definition(definition)
        except BaseException as error:
            if not (isinstance(error, Exception) or is_panic(error)):
                raise
            raise ValueError(
                f"tokenizer.source: the tokenizers library cannot use {definition} "
                f"({first_line(error)}). Give another folder, a hub id, or train."
            ) from error
    else:
        from corpusmill.mill.tokens.tokenizers import load_reference, reference_ids

        reference = load_reference(str(folder))
        found, unknown = reference_ids(reference, PLAIN), {reference.unk_token_id}
        vocabulary = max(len(reference), *(id + 1 for id in reference.get_vocab().values()))
    refuse_useless(str(folder), found, [id for id in unknown if id is not None])
    return vocabulary


def own_code(folder: Path) -> str | None:
    """Return a note if a tokenizer folder names its own Python code."""
    for name in ("tokenizer_config.json", "config.json"):
        if (folder / name).is_file() and "auto_map" in (load_plain_json(folder / name) or ()):
            return (
                f"{folder}/{name} refers to custom code (auto_map). corpusmill never runs custom "
                "code: the ids are those of the tokenizer without this code."
            )
    return None


if __name__ == "__main__":
    try:
        bound_this_process()
        folder, end_of_text, state, engine = sys.argv[1:]
        with told_of_tokenizer(folder):
            told = check_tokenizer(Path(folder), end_of_text, state == "kept", engine)
        print(json.dumps(told._asdict()))
        if note := own_code(Path(folder)):
            print(f"NOTE: {note}", file=sys.stderr)
    except ValueError as error:
        sys.exit(shown(str(error)))  # one line, which the check reads
