"""Advice for a URL or dataset id given in place of a file: a run reads local files only."""

import re

SCHEME = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
HUB = ("hf", "huggingface")
COPIED_BY = {
    "s3": "aws s3 cp --recursive {} data/",
    "gs": "gcloud storage cp --recursive {} data/",
    "http": "curl --location --remote-name {}",
    "https": "curl --location --remote-name {}",
}


def advice(pattern: str) -> str:
    """Return what follows `no file matches ...`: for an address, how to download its files."""
    if found := SCHEME.fullmatch(pattern):
        scheme = found["scheme"].lower()
        if scheme in HUB:
            name = "/".join(found["rest"].removeprefix("datasets/").split("/")[:2])
            return f"A run reads local files only. {_from_hub(name.partition('@')[0])}"
        how = COPIED_BY.get(scheme)
        first = (
            f"Copy the files first ({how.format(pattern)})" if how else "Copy the files to a folder"
        )
        return f"A run reads local files only. {first}, then set sources[].files to the copies."
    if HUB_ID.fullmatch(pattern):
        is_dataset = "For a dataset of the Hugging Face hub:"
        return f"Correct sources[].files. {is_dataset} {_from_hub(pattern, 'd')}"
    return "Correct sources[].files."


def _from_hub(name: str, first: str = "D") -> str:
    download = f"hf download {name} --repo-type dataset --local-dir data"
    return f"{first}ownload the dataset first ({download}), then set sources[].files to [data]."
