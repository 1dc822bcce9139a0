"""What to do about an address that is named as a file: a run reads files alone."""

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
    """What to say behind `no file matches ...`: for an address, how to have its files."""
    if found := SCHEME.fullmatch(pattern):
        scheme = found["scheme"].lower()
        if scheme in HUB:
            name = "/".join(found["rest"].removeprefix("datasets/").split("/")[:2])
            return f"A run reads files alone. {_from_hub(name.partition('@')[0])}"
        how = COPIED_BY.get(scheme)
        first = f"Copy them first, {how.format(pattern)}" if how else "Copy them to a folder first"
        return f"A run reads files alone. {first}, and name the files or their folder."
    if HUB_ID.fullmatch(pattern):
        is_dataset = "If a dataset of the Hugging Face hub is meant:"
        return f"Correct sources[].files. {is_dataset} {_from_hub(pattern, 'd')}"
    return "Correct sources[].files."


def _from_hub(name: str, first: str = "D") -> str:
    download = f"hf download {name} --repo-type dataset --local-dir data"
    return f"{first}ownload the dataset first, {download}, and name the folder data."
