"""No record takes a step longer than its size: half a megabyte of the worst kinds, in moments.

`python -m qa.campaigns.worst_records` measures the same of 64 MB.
"""

import functools

import pytest

from qa.campaigns.worst_records import LINES, TEXTS, measured, read, steps

SIZE = 1 << 19
MOST_SECONDS = 15
"""Of CPU. What goes by the square takes minutes; the slowest else, ftfy line by line, 4 seconds."""

FIRST = "marks, two classes"
KINDS = [FIRST, *(name for name in TEXTS if name != FIRST)]


@pytest.mark.whole
@pytest.mark.parametrize("name", LINES)
def test_reading__of_the_worst_lines_takes_moments(name):
    for mode in ("nfc", "ftfy"):
        found = measured(functools.partial(read(mode), LINES[name](SIZE)), MOST_SECONDS)
        assert "seconds" in found, (mode, found)


@pytest.mark.whole
@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", KINDS)
def test_steps__of_the_worst_texts_take_moments(name, tmp_path):
    text = TEXTS[name](SIZE)
    done = steps(tmp_path, None)
    found = {step: measured(functools.partial(do, text), MOST_SECONDS) for step, do in done.items()}
    assert not {step: one for step, one in found.items() if "seconds" not in one}
