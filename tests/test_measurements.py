"""What Snakemake measured of a job; a garbled file is named."""

import pytest

from corpusmill.run.measurements import measured, seconds_of


def test_seconds_of__are_all_that_were_measured(tmp_path):
    file = tmp_path / "job.tsv"
    file.write_text("h:m:s\ts\n0:00:01\t1.5\n0:00:02\t2.25\n")
    assert seconds_of(file) == 3.75


@pytest.mark.parametrize(
    "garbled", [b"", b"\xff\xfe", b"s\n1\0", b"s\tx\n-\t1\n", b"x\ts\n1\n", b"a\n1\n"]
)
def test_summarize__names_a_garbled_file(tmp_path, garbled):
    (tmp_path / "sign").mkdir()
    file = tmp_path / "sign/00000.tsv"
    file.write_bytes(garbled)
    with pytest.raises(ValueError, match=r"sign/00000\.tsv: expected a benchmark of Snakemake"):
        measured(tmp_path)
