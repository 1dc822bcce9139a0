"""What was decided of every document: each step's decisions joined, the first one counts."""

import numpy as np
import pyarrow as pa
import pytest

from corpusmill.mill.decide.candidates import CopiesOfPart, save_copies
from corpusmill.mill.decide.decided import (
    DecisionFiles,
    load_candidates,
    load_decided,
    load_marks,
    save_marks,
)
from corpusmill.mill.decide.fate_columns import FateColumn
from corpusmill.mill.read.ids import ids_of_part
from corpusmill.mill.storage.tables import save_table


def column(fates: list[str], *names: str) -> pa.DictionaryArray:
    made = FateColumn(len(fates))
    for name in names:
        made.drop(name, np.array([fate == name for fate in fates], bool))
    return made.array()


ROWS = [
    # verdict, assigned, split, who holds its text out, copies -> fate, copies
    ("kept", "kept", 0, 0, 3, "kept", 3),
    ("empty", "kept", 0, 0, 0, "empty", 0),
    ("too_short", "kept", 0, 1, 0, "too_short", 0),
    ("kept", "duplicate", 0, 1, 0, "duplicate", 0),
    ("kept", "not_sampled", 0, 0, 0, "not_sampled", 0),
    ("kept", "kept", 0, 3, 2, "contaminated", 0),
    ("kept", "kept", 1, 1, 1, "kept", 1),  # it is the text that is held out
]


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[5:], []])
def test_load_decided__joins_what_each_step_decided(tmp_path, rows):
    verdicts, assigned, split, origins, copies, fates, written = (
        zip(*rows, strict=True) if rows else [()] * 7
    )
    files = DecisionFiles(tmp_path / "filter", tmp_path / "assign", tmp_path / "marks", [])
    save_table(files.verdicts, fate=column(verdicts, "empty", "too_short"))
    save_table(
        files.assigned, fate=column(assigned, "duplicate", "not_sampled"),
        winner=np.arange(len(rows)), similarity=np.zeros(len(rows)), stage=np.zeros(len(rows)),
        split=np.array(split, np.uint8), copies=np.array(copies, np.uint16),
    )  # fmt: skip
    save_marks(files.marks, 16, [np.zeros(2, np.uint8), np.array(origins, np.uint8)])
    decided = load_decided(files, 17)
    assert decided.fates.array().to_pylist() == list(fates)
    assert decided.copies_in_total.tolist() == list(written)
    assert decided.winner.tolist() == list(range(len(rows)))
    marked = [row[3] if row[5] == "contaminated" else 0 for row in rows]
    assert decided.held_out_by.tolist() == marked


def test_load_decided__takes_the_copies_of_train_from_the_mixture(tmp_path):
    verdicts, assigned, split, origins, copies, *_ = zip(*ROWS, strict=True)
    mixed = tmp_path / "mixed"
    files = DecisionFiles(tmp_path / "filter", tmp_path / "assign", tmp_path / "marks", [mixed])
    save_table(files.verdicts, fate=column(verdicts, "empty", "too_short"))
    save_table(
        files.assigned, fate=column(assigned, "duplicate", "not_sampled"),
        winner=np.arange(len(ROWS)), similarity=np.zeros(len(ROWS)), stage=np.zeros(len(ROWS)),
        split=np.array(split, np.uint8), copies=np.array(copies, np.uint16),
    )  # fmt: skip
    save_marks(files.marks, 17, [np.array(origins, np.uint8)])
    assert load_candidates(*files[:3], 17).tolist() == [0]
    for chosen, fate in ((5, "kept"), (0, "left_over")):
        ids = ids_of_part(17, len(ROWS))[:1]
        parts = [
            CopiesOfPart(one, {"train": one * 0 + chosen}, {"train": one * 0})
            for one in (ids[:0], ids)
        ]
        save_copies(mixed, 16, parts, ["train"])
        decided = load_decided(files, 17)
        assert decided.fates.array().to_pylist() == [fate, *(row[5] for row in ROWS[1:])]
        assert decided.copies_in_total.tolist() == [chosen, *(row[6] for row in ROWS[1:])]


def test_load_marks__gives_back_every_part(tmp_path):
    parts = [np.array(part, np.uint8) for part in ([0, 3], [], [1])]
    save_marks(tmp_path / "marks", 16, parts)
    found = [load_marks(tmp_path / "marks", number).tolist() for number in range(16, 19)]
    assert found == [part.tolist() for part in parts]


def test_load_marks__refuses_another_table(tmp_path):
    save_table(tmp_path / "a.arrow", fate=pa.array(["kept"]))
    with pytest.raises(ValueError, match="expected a table of held-out texts"):
        load_marks(tmp_path / "a.arrow", 0)


def test_drop__the_first_decision_stays():
    fates = FateColumn(3)
    assert fates.drop("a", np.array([True, False, False])).tolist() == [True, False, False]
    assert fates.drop("b", np.array([True, True, False])).tolist() == [False, True, False]
    assert fates.array().to_pylist() == ["a", "b", "kept"]
    assert fates.has("b").tolist() == [False, True, False]
    assert fates.has("c").tolist() == [False, False, False]
    assert fates.kept.tolist() == [False, False, True]
