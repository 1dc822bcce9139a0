"""The rooms of the package: who may import whom, as each room says of itself."""

import ast
import importlib
from pathlib import Path

import pytest
from workflow import ROOT

PACKAGE = ROOT / "corpusmill"


FORMER_NAMES = {"stream", "filters", "text", "designer"}
"""Folders of import paths that docs promised; they import the new ones."""
GROUPS = {"mill", "tools"}
"""Folders of rooms."""


def room_of(path: list[str]) -> str:
    """The room of a module below the package: `mill/read`, `run`."""
    return "/".join(path[: 2 if path[0] in GROUPS else 1])


def allowed(package: Path) -> dict[str, set[str]]:
    """Room -> rooms that it may import, by the end of its own docstring."""
    found = {}
    for file in [*package.glob("*/__init__.py"), *package.glob("*/*/__init__.py")]:
        path = list(file.parent.relative_to(package).parts)
        if room_of(path) != "/".join(path) or path[0] in FORMER_NAMES or path[-1] in GROUPS:
            continue
        _, names = ast.get_docstring(ast.parse(file.read_text())).split("\nImports: ")
        rooms = {
            name.replace(".", "/") for name in names.rstrip(".").replace("\n", " ").split(", ")
        }
        found[room_of(path)] = rooms - {"nothing"}
    return found


def imported(module: Path) -> set[str]:
    """Every module of the package that a file imports, also inside its functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: an import has to be absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.split(".")[0] == "corpusmill"}


def trespasses(package: Path) -> list[str]:
    """Every import of a room that may not be imported."""
    rooms = allowed(package)
    return [
        f"{file.relative_to(package)} imports {name}"
        for room, others in rooms.items()
        for file in sorted((package / room).rglob("*.py"))
        for name in sorted(imported(file))
        if room_of([*name.split(".")[1:], ""]) not in others | {room, ""}
    ]


def in_order(rooms: dict[str, set[str]]) -> list[str]:
    """The rooms, each behind those that it imports; raises if there is no such order."""
    order: list[str] = []
    while len(order) < len(rooms):
        ready = [r for r in sorted(rooms) if r not in order and rooms[r] <= set(order)]
        assert ready, f"these rooms import one another: {sorted(set(rooms) - set(order))}"
        order += ready
    return order


def test_rooms__import_only_what_they_say():
    assert trespasses(PACKAGE) == []


def test_rooms__are_layers():
    rooms = allowed(PACKAGE)
    assert len(in_order(rooms)) == len(rooms)
    assert sum(room.startswith("mill/") for room in rooms) <= 10
    assert sum(room.startswith("tools/") for room in rooms) <= 6


def test_rooms__are_all_folders_of_the_package():
    groups = FORMER_NAMES | GROUPS | {room.split("/")[0] for room in allowed(PACKAGE)}
    assert {file.parent.name for file in PACKAGE.glob("*/__init__.py")} == groups


def test_package__has_no_module_outside_its_rooms():
    assert {file.name for file in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize(
    "line",
    [
        "from corpusmill.mill.dedup import edges",
        "import corpusmill.run.job",
        "def f():\n    from corpusmill.mill.tokens.losses import LossCounter",
    ],
)
def test_trespasses__are_found(line, tmp_path):
    for room in ("mill/storage", "mill/dedup", "run", "mill/tokens"):
        (tmp_path / room).mkdir(parents=True)
        (tmp_path / room / "__init__.py").write_text('"""A room.\n\nImports: nothing.\n"""\n')
    assert trespasses(tmp_path) == []
    (tmp_path / "mill/storage/files.py").write_text(f"{line}\n")
    (found,) = trespasses(tmp_path)
    assert found.startswith("mill/storage/files.py imports corpusmill.")


def test_in_order__refuses_a_circle():
    with pytest.raises(AssertionError, match=r"import one another: \['a', 'b'\]"):
        in_order({"a": {"b"}, "b": {"a"}, "c": set()})


@pytest.mark.parametrize(
    ("former", "now", "names"),
    [
        ("stream", "reader", ["Batches", "Corpus", "InOrder", "Mixture", "Samples", "Shuffled",
                              "Windowed", "attention_mask", "segments_of"]),
        ("filters.declaration", "mill.filters.declaration",
         ["Filter", "Value", "above", "below", "share", "count", "member", "word_rule"]),
        ("text.readers", "mill.read.readers", ["Reader", "record"]),
        ("text.records", "mill.read.records", ["Malformed"]),
    ],
)  # fmt: skip
def test_former_names__are_the_same_things(former, now, names):
    old, new = (importlib.import_module(f"corpusmill.{name}") for name in (former, now))
    assert all(getattr(old, name) is getattr(new, name) for name in names)
