"""Whether a tokenizer by hub id can be had: `... hub_check ID`.

A process of its own beside the start of a run, before any job. One question to the hub, and none if
the machine has the tokenizer already.
"""

import sys

from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
from huggingface_hub.errors import (  # type: ignore[attr-defined] # HTTPError is httpx2's
    EntryNotFoundError,
    HfHubHTTPError,
    HFValidationError,
    HTTPError,
    RepositoryNotFoundError,
)

FILES = ("tokenizer.json", "tokenizer_config.json", "tokenizer.model", "vocab.json", "vocab.txt")
"""Of which every tokenizer has some."""

WAIT_SECONDS = 5


def fault_of(hub_id: str) -> str | None:
    """Why there will be no tokenizer; None if there may be."""
    ways = "Give a folder, the id of a tokenizer that this machine can reach, or train."
    try:
        if any(isinstance(try_to_load_from_cache(hub_id, file), str) for file in FILES):
            return None
        url = hf_hub_url(hub_id, "config.json")
        get_hf_file_metadata(url, timeout=WAIT_SECONDS)
    except HFValidationError:
        return f"tokenizer.source: {hub_id} is neither a folder nor the id of a tokenizer. {ways}"
    except EntryNotFoundError:
        return None
    except RepositoryNotFoundError:
        return (
            f"tokenizer.source: the hub has no {hub_id}, or none for who is logged in here "
            f"(hf auth login). {ways}"
        )
    except HfHubHTTPError:
        return None  # a hub that has too much to do now; the step asks more than once
    except (HTTPError, OSError) as error:
        return (
            f"tokenizer.source: {hub_id} is not on this machine, and the hub cannot be reached "
            f"({' '.join(str(error).split())}). {ways}"
        )
    return None


if __name__ == "__main__":
    if fault := fault_of(sys.argv[1]):
        sys.exit(fault)
