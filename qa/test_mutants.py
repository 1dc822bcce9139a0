"""Each mutant still has its line to change, and tests that can be asked."""

import pytest

from qa.mutants import MUTANTS, ROOT, places


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name for mutant in MUTANTS])
def test_mutant__changes_one_place_and_names_tests(mutant):
    assert places(mutant) == 1
    assert mutant.old != mutant.new
    assert all((ROOT / f"tests/test_{name}.py").exists() for name in mutant.tests.split())
