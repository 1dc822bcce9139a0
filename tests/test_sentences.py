"""Messages that are put together end with one full stop."""

import pytest

from corpusmill.cli.check import loaded
from corpusmill.messages.sentences import sentence
from corpusmill.tools.verify import listing
from corpusmill.tools.verify.findings import NoCorpusError, UnreachableError
from corpusmill.tools.verify.locations import LocalPlace


@pytest.mark.parametrize(
    ("text", "expected"), [("a", "a."), ("a.", "a."), ("a?", "a?"), ("a...", "a..."), ("", ".")]
)
def test_sentence__has_one_full_stop(text, expected):
    assert sentence(text) == expected


@pytest.mark.parametrize("told", ["http://x: it does not answer. Try later.", "http://x: no"])
def test_listing__that_cannot_be_read_is_told_in_sentences(tmp_path, monkeypatch, told):
    def refuse(*_):
        raise UnreachableError(told)

    monkeypatch.setattr(listing, "whole", refuse)
    with pytest.raises(NoCorpusError) as caught:
        listing.manifest_bytes(LocalPlace(tmp_path))
    assert str(caught.value) == f"{sentence(told)} Without the manifest nothing can be verified."


def test_config_file__that_is_no_yaml_is_told_in_sentences(tmp_path):
    (tmp_path / "a.yaml").write_text("a: [")
    with pytest.raises(ValueError, match="Correct it") as caught:
        loaded(tmp_path / "a.yaml")
    assert ".." not in str(caught.value)
