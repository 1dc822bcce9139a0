"""Whether a tokenizer can be had by its hub id.

`... hub_check ID END_OF_TEXT STATE WHAT` is a process of its own beside the start of a run, before
any job. It asks the hub for no file that the machine has already, and for small ones where these
tell enough. It prints what it knows then, as JSON. STATE: `new`, or `kept` if the last run used it:
then nobody is asked. WHAT: `end`, or `vocabulary` for its size too.
"""

import json
import sys
from pathlib import Path

from huggingface_hub import (
    get_hf_file_metadata,
    hf_hub_download,
    hf_hub_url,
    try_to_load_from_cache,
)
from huggingface_hub.errors import (  # type: ignore[attr-defined] # HTTPError is httpx2's
    EntryNotFoundError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    RepositoryNotFoundError,
)

from corpusmill.mill.tokens.bounded import bound_this_process, told_of_tokenizer
from corpusmill.mill.tokens.ends_of_text import (
    DEFINITION,
    USUAL,
    Named,
    Told,
    named_by,
    refuse_guess,
)
from corpusmill.mill.tokens.ends_of_text import FILES as ENDS
from corpusmill.mill.tokens.tokenizer_check import ids_of_definition

FILES = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json", "vocab.txt")
"""Of which every tokenizer has some."""

WAIT_SECONDS = 5


def is_there(hub_id: str) -> bool:
    """Whether its files can be asked for now; ValueError, in one line, if they never can."""
    ways = "Give a folder, the id of a tokenizer that this machine can reach, or train."
    try:
        if any(isinstance(try_to_load_from_cache(hub_id, file), str) for file in FILES):
            return True
        get_hf_file_metadata(hf_hub_url(hub_id, "config.json"), timeout=WAIT_SECONDS)
    except HFValidationError:
        raise ValueError(
            f"tokenizer.source: {hub_id} is neither a folder nor the id of a tokenizer. {ways}"
        ) from None
    except EntryNotFoundError:
        pass  # the repository is there
    except RepositoryNotFoundError:
        raise ValueError(
            f"tokenizer.source: the hub has no {hub_id}, or none for who is logged in here "
            f"(hf auth login). {ways}"
        ) from None
    except HfHubHTTPError:
        return False  # a hub that has too much to do now; the step asks more than once
    except (HTTPError, OSError) as error:
        raise ValueError(
            f"tokenizer.source: {hub_id} is not on this machine, and the hub cannot be reached "
            f"({' '.join(str(error).split())}). {ways}"
        ) from error
    return True


def named_at(hub_id: str, ask: bool) -> Named:
    """What the files of a tokenizer say, as many of them as it takes.

    ask: the hub too, not only this machine.
    """
    files: dict[Path, bytes] = {}
    for name in (*ENDS, DEFINITION):
        if named_by(files).eos_token in USUAL:
            break
        if path := file_of(hub_id, name, ask):
            files[path] = path.read_bytes()
    return named_by(files)


def file_of(hub_id: str, name: str, ask: bool) -> Path | None:
    """A file of a tokenizer, None if it has none of this name or the hub does not give it now."""
    cached = try_to_load_from_cache(hub_id, name)
    if cached is not None or not ask:
        return Path(cached) if isinstance(cached, str) else None  # or it is known to have none
    try:
        return Path(hf_hub_download(hub_id, name, etag_timeout=WAIT_SECONDS))
    except (EntryNotFoundError, HfHubHTTPError, HTTPError, OSError):
        return None  # the step asks again, and knows all


def checked(hub_id: str, end_of_text: str, kept: bool, count: bool) -> Told:
    """What is known of it now. ValueError, in one line, if there will be no tokenizer, or nobody
    said what ends documents.

    count: how many ids it has, too, for which its tokenizer.json has to come.
    """
    if not kept and not is_there(hub_id):
        return Told(None, None)
    end: str | None = end_of_text
    if end_of_text == "auto":
        named = named_at(hub_id, ask=not kept)
        end = named.eos_token
        if end is not None:
            refuse_guess(hub_id, end, named.special)
    definition = file_of(hub_id, DEFINITION, ask=not kept) if count else None
    return Told(end, ids_of_definition(definition)[2] if definition else None)


if __name__ == "__main__":
    try:
        bound_this_process()
        hub_id, end_of_text, state, what = sys.argv[1:]
        with told_of_tokenizer(hub_id):
            told = checked(hub_id, end_of_text, state == "kept", what == "vocabulary")
        print(json.dumps(told._asdict()))
    except ValueError as error:
        sys.exit(str(error))
