"""The table of all decisions: parts of a block, some of them without documents."""

import numpy as np
import pyarrow as pa
import pytest

from corpusmill.mill.decide.decided import load_decided, save_decided
from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.storage.tables import save_table


def others(rows: int) -> dict[str, np.ndarray]:
    names = ("winner", "similarity", "stage", "held_out_by", "split", "copies")
    return {name: np.arange(rows) for name in names}


def column(tmp_path, fates: list[str]) -> FateColumn:
    """As it comes back from a table, where a part without documents forgets the names."""
    made = FateColumn(len(fates))
    for name in ("empty", "too_short"):
        made.drop(name, np.array([fate == name for fate in fates], bool))
    save_table(tmp_path / "fates.arrow", fate=made.array())
    found = FateColumn.load(tmp_path / "fates.arrow")
    found.drop("contaminated", np.array([fate == "contaminated" for fate in fates], bool))
    return found


@pytest.mark.parametrize(
    "parts",
    [
        [["kept", "empty"], [], ["too_short", "contaminated"]],
        [[], ["kept"]],
        [[], []],
        [["kept"]],
    ],
)
def test_load_decided__gives_back_every_part(tmp_path, parts):
    path = tmp_path / "decided.arrow"
    fates = [column(tmp_path, part) for part in parts]
    save_decided(path, 16, fates, [others(len(part)) for part in parts])
    for number, part in enumerate(parts, 16):
        found = load_decided(path, number)
        assert found.column("fate").to_pylist() == part
        assert found.column("copies").to_pylist() == list(range(len(part)))


def test_load_decided__refuses_another_table(tmp_path):
    save_table(tmp_path / "a.arrow", fate=pa.array(["kept"]))
    with pytest.raises(ValueError, match="expected a table of decisions"):
        load_decided(tmp_path / "a.arrow", 0)


def test_drop__the_first_decision_stays():
    fates = FateColumn(3)
    assert fates.drop("a", np.array([True, False, False])).tolist() == [True, False, False]
    assert fates.drop("b", np.array([True, True, False])).tolist() == [False, True, False]
    assert fates.array().to_pylist() == ["a", "b", "kept"]
    assert fates.has("b").tolist() == [False, True, False]
    assert fates.has("c").tolist() == [False, False, False]
    assert fates.kept.tolist() == [False, False, True]
