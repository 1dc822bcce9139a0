"""The first records of an input file, looked at before any job."""

import json

import pytest

from corpusmill.text.first_records import LOOKED_AT, Asked, fault_of

GOOD = '{"text": "a"}'
OTHER_FIELD = '{"content": "a", "n": 1}'
NO_JSON = "{"


@pytest.mark.parametrize(
    ("lines", "allowed", "fault"),
    [
        ([], 0, None),
        ([GOOD], 0, None),
        ([NO_JSON] * 19 + [GOOD], 0, None),
        ([OTHER_FIELD], 0, 'none of the first records (1) has it; they have "content", "n"'),
        ([OTHER_FIELD] * 30, 0, 'none of the first records (20) has it; they have "content", "n"'),
        ([NO_JSON] * 30, 0, "none of the first records (20) is one that"),
        ([OTHER_FIELD, NO_JSON], 0, "line 1: no"),
        # Some may be malformed: it takes 20 that say the same to be sure of a wrong name.
        ([OTHER_FIELD] * 30, 0.01, "none of the first records (20) has it"),
        ([OTHER_FIELD] * 19, 0.01, None),
        ([NO_JSON] * 30, 0.01, None),
        ([OTHER_FIELD] * 19 + [NO_JSON], 0.01, None),
    ],
)
def test_fault_of(tmp_path, lines, allowed, fault):
    path = tmp_path / "0.jsonl"
    path.write_text("".join(line + "\n" for line in lines))
    found = fault_of(Asked("web", str(path), "text", allowed))
    assert (found is None) if fault is None else (found and fault in found)


def test_fault_of__says_file_field_and_source(tmp_path):
    path = tmp_path / "0.jsonl"
    path.write_text("".join(json.dumps({"n": 1, "content": "a"}) + "\n" for _ in range(LOOKED_AT)))
    assert fault_of(Asked("web", str(path), "text", 0)) == (
        f'{path}: source "web" reads the field "text", and none of the first records (20) has it; '
        'they have "content", "n". Set its text_field.'
    )
