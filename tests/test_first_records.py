"""The first records of an input file, looked at before any job."""

import json
import subprocess
import sys

import psutil
import pytest
from workflow import ROOT

from corpusmill.mill.read.first_records import (
    LOOKED_AT,
    LOOKED_AT_BYTES,
    Asked,
    fault_of,
    first_records,
)
from corpusmill.mill.read.records import too_long
from corpusmill.mill.storage.files import save_json, writing
from scripts.admit import admit

GOOD = '{"text": "a"}'
OTHER_FIELD = '{"content": "a", "n": 1}'
NO_JSON = "{"


def test_first_records__fewer_if_they_are_large(tmp_path):
    path = tmp_path / "0.jsonl"
    path.write_text((json.dumps({"text": "a" * 400_000}) + "\n") * LOOKED_AT)
    asked = Asked("a", str(path), "text", 0)
    assert len(list(first_records(asked))) == 3  # two have less than LOOKED_AT_BYTES
    path.write_text(json.dumps({"text": "a" * 2 * LOOKED_AT_BYTES}) + "\n")
    assert len(list(first_records(asked))) == 1


@pytest.mark.parametrize(
    ("lines", "allowed", "fault"),
    [
        ([], 0, None),
        ([GOOD], 0, None),
        ([NO_JSON] * 19 + [GOOD], 0, None),
        (
            [OTHER_FIELD],
            0,
            'none of the first records (1) has this field; these records have "content", "n"',
        ),
        (
            [OTHER_FIELD] * 30,
            0,
            'none of the first records (20) has this field; these records have "content", "n"',
        ),
        ([NO_JSON] * 30, 0, "none of the first records (20) can be read"),
        ([OTHER_FIELD, NO_JSON], 0, "line 1: no"),
        # Some may be malformed: it takes 20 that say the same to be sure of a wrong name.
        ([OTHER_FIELD] * 30, 0.01, "none of the first records (20) has this field"),
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
        f'{path}: source "web" reads the field "text", but none of the first records (20) has this '
        'field; these records have "content", "n". Set text_field of this source.'
    )


def admitted(folder, *lines: str) -> str:
    """Why admit refuses these malformed records."""
    counts, bad = folder / "counts.json", folder / "bad.jsonl"
    save_json(counts, {"by_source": {"web": {"records": 3, "malformed": len(lines)}}})
    with writing(bad) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())
    with pytest.raises(ValueError, match="malformed") as caught:
        admit([counts], [bad], {"web": 0}, folder / "admitted.json")
    return str(caught.value).splitlines()[-1]


def test_admit__names_the_key_that_records_are_too_long_for(tmp_path):
    rest = "max_malformed_fraction of the source."
    assert admitted(tmp_path, '{"reason": "no JSON"}') == f"Repair these records, or raise {rest}"
    long = json.dumps({"reason": too_long(3000, 1024)})
    assert (
        admitted(tmp_path, long)
        == f"Repair these records, or raise input.max_record_bytes, or {rest}"
    )


def test_helper__ends_when_its_command_is_killed(tmp_path):
    """A reader of the user's that never ends keeps no process alive."""
    program = (
        "import subprocess, sys, time\n"
        "helper = subprocess.Popen([sys.executable, '-c', 'from corpusmill.mill.read.plugins import"
        " serve_another; print(1, flush=True); serve_another()\\nwhile True: pass'],"
        " stdout=subprocess.PIPE)\n"
        "helper.stdout.readline(); time.sleep(0.5)\n"
        "print(helper.pid, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=ROOT, text=True
    ) as command:
        helper = psutil.Process(int(command.stdout.readline()))
        command.kill()
    helper.wait(20)
