"""What looks at input files before the first job holds no more of them than a job would."""

import io
import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_read_limits import PACKED, streamed
from workflow import ROOT

from corpusmill.mill.read.first_records import LOOKED_AT
from corpusmill.mill.storage.streams import ReadLimits

MEGABYTE = 1 << 20
LIMITS = ReadLimits(16 * MEGABYTE, 27)
MOST_MB = 12 * 16
"""As of the jobs that read: twelve times the largest record."""

LOOKS = {
    "check": "from corpusmill.mill.read.first_records import Asked, fault_of\n"
    "said = fault_of(Asked('s', path, 'text', 0), (), limits)",
    "members": "from corpusmill.run.absent_members import absent_members, users_of\n"
    "from corpusmill.mill.read.first_records import Asked\n"
    "from corpusmill.mill.filters.configured import configured\n"
    "entry = {'name': 'metadata', 'field': 'absent', 'matches': 'x'}\n"
    "users = users_of(configured([entry]), [])\n"
    "said = list(absent_members(users, [Asked('s', path, 'text', 0)], (), limits))",
    "columns": "from corpusmill.mill.read.typed_columns import types_of\n"
    "said = types_of(path, 'text', (), limits)",
    "init": "from corpusmill.cli import init\n"
    "from corpusmill.mill.storage import streams\n"
    "init.READ_LIMITS = limits\n"
    "said = init.text_field_of(path, [])",
}
MEASURE = """
import sys
from pathlib import Path
from corpusmill.mill.storage.streams import ReadLimits
import pyarrow.parquet, pyarrow.compute, corpusmill.mill.filters.known.metadata, corpusmill.cli.init
import corpusmill.run.absent_members, corpusmill.mill.read.parquet_records
def memory(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
path, limits = sys.argv[1], ReadLimits({limits})
before = memory("VmRSS")
{look}
print(memory("VmHWM") - before, repr(said)[:300])
"""


def long_records(size: int) -> bytes:
    """Records just below the limit, of which a column and a check look at several."""
    record = json.dumps({"text": "a" * (size - 200), "n": 1}).encode() + b"\n"
    return record * LOOKED_AT


def nested_records(size: int) -> bytes:
    record = b'{"text":"a","n":[' + b"[]," * ((size - 200) // 3) + b"0]}\n"
    return record * 3


def wide_records(size: int) -> bytes:
    names = b",".join(b'"%x":0' % n for n in range(size // 100))
    return (b'{"txt":"a",' + names + b"}\n") * 2


FILES = {
    "long, zst": (".jsonl.zst", long_records),
    "long, gz": (".jsonl.gz", long_records),
    "nested, zst": (".jsonl.zst", nested_records),
    "another field, zst": (".jsonl.zst", wide_records),
}


def measured(path, look: str) -> tuple[float, str]:
    """Megabytes beyond what the modules take, and what was said."""
    code = MEASURE.format(limits=", ".join(map(str, LIMITS)), look=LOOKS[look])
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    megabytes, said = done.stdout.split(" ", 1)
    return float(megabytes), said


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", FILES)
def test_looking__at_bombs_holds_little_of_them(tmp_path, name, look):
    ending, content = FILES[name]
    path = tmp_path / f"bomb{ending}"
    pack = streamed if ending == ".jsonl.zst" else PACKED[ending]
    path.write_bytes(pack(content(LIMITS.line_bytes)))
    held, _ = measured(path, look)
    assert held < MOST_MB, look


def parquet(table: pa.Table, **options) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", **options)
    return out.getvalue()


@pytest.mark.parametrize("look", ["check", "members", "init"])
def test_looking__at_a_parquet_page_that_expands_refuses_it(tmp_path, look):
    rows = ["a" * (MEGABYTE // 2)] * 400
    path = tmp_path / "page.parquet"
    table = pa.table({"text": rows})
    path.write_bytes(parquet(table, use_dictionary=False, data_page_size=1 << 30))
    assert path.stat().st_size < MEGABYTE
    if look == "members":
        with pytest.raises(subprocess.CalledProcessError):
            measured(path, look)
        return
    held, said = measured(path, look)
    assert held < MOST_MB
    assert "expands to" in said or look == "init"


@pytest.mark.parametrize("encoding", ["dictionary", "DELTA_BYTE_ARRAY"])
@pytest.mark.parametrize("look", ["check", "members", "init"])
def test_looking__at_a_parquet_value_that_comes_again_holds_few(tmp_path, look, encoding):
    """A page has the value once, and each row has it whole."""
    rows = ["a" * (LIMITS.line_bytes - 1000)] * 64
    path = tmp_path / "again.parquet"
    plain = encoding != "dictionary"
    chosen = {"use_dictionary": False, "column_encoding": {"text": encoding}} if plain else {}
    table = pa.table({"text": pa.array(rows).dictionary_encode() if not plain else rows})
    path.write_bytes(parquet(table, dictionary_pagesize_limit=1 << 30, **chosen))
    assert path.stat().st_size < MEGABYTE
    held, said = measured(path, look)
    assert held < MOST_MB
    assert "damaged" not in said
