"""Arrays come back as they were saved, as views of their files."""

import numpy as np
import pytest

from corpusmill.mill.storage.arrays import load_array, save_array


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0), (5, 2)])
def test_load_array__gives_back_a_read_only_view(tmp_path, shape):
    array = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)
    save_array(tmp_path / "a.npy", array)
    got = load_array(tmp_path / "a.npy")
    assert (got.dtype, got.shape, got.tolist()) == (array.dtype, shape, array.tolist())
    assert not got.flags.writeable
