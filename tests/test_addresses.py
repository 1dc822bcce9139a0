"""An address that is named as a file: what to do is told."""

import pytest

from corpusmill.run.addresses import advice

HUB = "hf download org/name --repo-type dataset --local-dir data"


@pytest.mark.parametrize(
    ("pattern", "told"),
    [
        ("s3://bucket/web/", "aws s3 cp --recursive s3://bucket/web/ data/"),
        ("gs://bucket/web", "gcloud storage cp --recursive gs://bucket/web data/"),
        ("HTTPS://host/a.jsonl", "curl --location --remote-name HTTPS://host/a.jsonl"),
        ("ftp://host/a.jsonl", "Copy the files to a folder, then set sources[].files"),
        ("hf://org/name", HUB),
        ("hf://datasets/org/name/data/*.parquet", HUB),
        ("hf://datasets/org/name@main/x", HUB),
        ("org/name", f"Hugging Face hub: download the dataset first ({HUB})"),
    ],
)  # fmt: skip
def test_advice__is_how_to_have_the_files(pattern, told):
    assert told in advice(pattern)


@pytest.mark.parametrize("pattern", ["data/*.jsonl", "data", "a/b/c", "/data/x", "../x", "C:/x"])
def test_advice__for_a_path_is_to_correct_it(pattern):
    assert advice(pattern) == "Correct sources[].files."
