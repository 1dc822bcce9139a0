"""Decision tables come back as they were, in the order asked for."""

import numpy as np
import pytest

from corpusmill.mill.storage.tables import load_table, save_table


@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_load_table__gives_back_what_was_saved(tmp_path, rows):
    rng = np.random.default_rng(rows)
    columns = {
        dtype: rng.integers(0, 100, rows).astype(dtype)
        for dtype in ("uint8", "uint16", "uint32", "uint64", "int64", "float64")
    }
    save_table(tmp_path / "t.arrow", **columns)
    got = load_table(tmp_path / "t.arrow", *reversed(columns))
    for array, dtype in zip(got, reversed(columns), strict=True):
        assert array.dtype == dtype
        assert array.tolist() == columns[dtype].tolist()


def test_load_table__refuses_a_column_that_is_not_there(tmp_path):
    save_table(tmp_path / "t.arrow", fate=np.zeros(3, np.uint8))
    with pytest.raises(ValueError, match="winner"):
        load_table(tmp_path / "t.arrow", "winner")
