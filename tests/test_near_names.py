"""What is said of a name that nobody knows."""

import time

from corpusmill.messages.near_names import meant, near_names


def test_near_names__are_the_best_first():
    assert near_names("too_shirt", ["empty", "too_shot", "too_short"]) == ["too_short", "too_shot"]
    assert near_names("xyz", ["empty"]) == []


def test_meant__tells_the_nearest_and_all_known():
    assert meant("too_shirt", ["empty", "too_short"]) == (
        " Did you mean too_short? Known names: empty, too_short."
    )
    assert meant("xyz", ["empty"]) == " Known names: empty."


def test_meant__of_very_many_tells_the_nearest_alone():
    known = [f"label{n:03}" for n in range(500)]
    assert meant("labell042", known).startswith(" Did you mean label042? Known names: label042, ")
    assert meant("labell042", known).endswith(" and 490 more.")
    assert meant("xyz", known) == f" Known names: {', '.join(known[:10])} and 490 more."


def test_near_names__of_huge_lists_and_names_take_no_time():
    began = time.process_time()
    near_names("data/999999-abcdf.jsonl", [f"data/{n:06}-abcde.jsonl" for n in range(600_000)])
    near_names("a" * 10**6, ["ab" * 10**6] * 10)
    near_names("abcd" * 10, ["abcde" * 10**6])
    assert time.process_time() - began < 10
