"""The rooms of the package: who may import whom, as each room says of itself."""

import ast
from pathlib import Path

import pytest
from workflow import ROOT

PACKAGE = ROOT / "corpusmill"


def allowed(package: Path) -> dict[str, set[str]]:
    """Room -> rooms that it may import, by the end of its own docstring."""
    found = {}
    for file in package.glob("*/__init__.py"):
        _, names = ast.get_docstring(ast.parse(file.read_text())).split("\nImports: ")
        rooms = set(names.rstrip(".").replace("\n", " ").split(", "))
        found[file.parent.name] = rooms - {"nothing"}
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
        if [*name.split("."), ""][1] in set(rooms) - others - {room}
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
    assert len(in_order(rooms)) == len(rooms) >= 10


def test_package__has_no_module_outside_its_rooms():
    assert {file.name for file in PACKAGE.glob("*.py")} == {"__init__.py", "__main__.py"}


@pytest.mark.parametrize(
    "line",
    [
        "from corpusmill.dedup import edges",
        "import corpusmill.run.job",
        "def f():\n    from corpusmill.tokens.losses import LossCounter",
    ],
)
def test_trespasses__are_found(line, tmp_path):
    for room in ("storage", "dedup", "run", "tokens"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "__init__.py").write_text('"""A room.\n\nImports: nothing.\n"""\n')
    assert trespasses(tmp_path) == []
    (tmp_path / "storage/files.py").write_text(f"{line}\n")
    (found,) = trespasses(tmp_path)
    assert found.startswith("storage/files.py imports corpusmill.")


def test_in_order__refuses_a_circle():
    with pytest.raises(AssertionError, match=r"import one another: \['a', 'b'\]"):
        in_order({"a": {"b"}, "b": {"a"}, "c": set()})
