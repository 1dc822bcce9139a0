"""How much is tested: tests of a moment; with --whole all tests; with --long all their cases."""

import sys
import types
from collections.abc import Iterator

from hypothesis import settings

SAMPLED = 25
"""Examples of a law that asks for no number, which are 100 with --long."""
SHARES = {"sampled": 10, "whole": 4, "long": 1}
"""One in how many examples of other laws is tried, by Hypothesis' profile."""
STARTING = {"subprocess", "multiprocessing", "warm"}
"""Modules that start processes."""
THE_RUN = "every_fate"
"""The fixture of the one run of the workflow that tests have without --whole, too."""
OURS = ("/tests/", "/qa/", "/conftest.py")
"""Where functions lie that are followed to what they use."""


def examples(number: int, **more) -> settings:
    """Settings of a law with so many examples with --long; see SHARES."""
    share = SHARES[settings.get_current_profile_name()]
    return settings(max_examples=-(-number // share), **more)


def some(cases: list) -> list:
    """All with --whole, and every seventh without."""
    return cases[::7] if settings.get_current_profile_name() == "sampled" else cases


def starts_processes(item) -> bool:
    """Whether a test, a fixture of it or a function that they call uses a module of STARTING."""
    test = getattr(item.obj, "hypothesis", None)
    begun = [test.inner_test if test else item.obj]
    for name, definitions in item._fixtureinfo.name2fixturedefs.items():
        if name != THE_RUN:
            begun += [definition.func for definition in definitions]
    seen: set[types.FunctionType] = set()
    return any(_reaches(function, seen) for function in begun)


def _reaches(function, seen: set) -> bool:
    function = getattr(function, "__wrapped__", function)
    if not isinstance(function, types.FunctionType) or function in seen:
        return False
    seen.add(function)
    if not any(place in function.__code__.co_filename for place in OURS):
        return False
    used = [function.__globals__.get(name) for name in _names(function.__code__)]
    return any(_is_starting(one) or _reaches(one, seen) for one in used) or any(
        _reaches(method, seen)
        for one in used
        if isinstance(one, type) and any(place in _file(one) for place in OURS)
        for method in vars(one).values()
    )


def _is_starting(one: object) -> bool:
    return isinstance(one, types.ModuleType) and one.__name__ in STARTING


def _file(kind: type) -> str:
    return getattr(sys.modules.get(kind.__module__), "__file__", None) or ""


def _names(code: types.CodeType) -> Iterator[str]:
    """The names that a function uses, also in the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
