"""Check whether a tokenizer is available by its hub id.

`... hub_check ID END_OF_TEXT STATE WHAT` runs in its own process while a run starts. It downloads
only files that are not cached, and only small ones if they suffice. It prints the facts as JSON.
STATE: `new`, or `kept` if the last run used it; then it does not use the network. WHAT: `end`, or
`vocabulary` for its size too.
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

from corpusmill.messages.plain_text import shown
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
"""Every tokenizer has at least one of these files."""

WAIT_SECONDS = 5


def is_there(hub_id: str) -> bool:
    """Say whether its files are available now; raise ValueError, in one line, if they never are."""
    ways = "Give a folder, the id of a tokenizer that this machine can download, or `train`."
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
            f"tokenizer.source: the hub has no tokenizer {hub_id}, or you lack access to it "
            f"(hf auth login). {ways}"
        ) from None
    except HfHubHTTPError:
        return False  # the hub is busy; the step retries
    except (HTTPError, OSError) as error:
        raise ValueError(
            f"tokenizer.source: {hub_id} is not on this machine, and the hub cannot be reached "
            f"({' '.join(str(error).split())}). {ways}"
        ) from error
    return True


def named_at(hub_id: str, ask: bool) -> Named:
    """Return the tokens that a tokenizer's files name, reading no more files than needed.

    ask: whether to use the hub, not only the cache.
    """
    files: dict[Path, bytes] = {}
    for name in (*ENDS, DEFINITION):
        if named_by(files).eos_token in USUAL:
            break
        if path := file_of(hub_id, name, ask):
            files[path] = path.read_bytes()
    return named_by(files)


def file_of(hub_id: str, name: str, ask: bool) -> Path | None:
    """Return a file of a tokenizer; None if it does not exist or is unavailable now."""
    cached = try_to_load_from_cache(hub_id, name)
    if cached is not None or not ask:
        return Path(cached) if isinstance(cached, str) else None  # or known to be missing
    try:
        return Path(hf_hub_download(hub_id, name, etag_timeout=WAIT_SECONDS))
    except (EntryNotFoundError, HfHubHTTPError, HTTPError, OSError):
        return None  # the step asks again


def checked(hub_id: str, end_of_text: str, kept: bool, count: bool) -> Told:
    """Return the facts that are known now.

    Raise ValueError, in one line, if there is no such tokenizer or the end of text is unclear.
    count: whether to count its ids, which needs tokenizer.json.
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
        sys.exit(shown(str(error)))  # one line, which the check reads
