"""The room table of ARCHITECTURE.md, enforced on the import graph."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "backplay"


def read_table() -> dict[str, set[str]]:
    """For each room of the table, the rooms and packages it may import."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    text = text.partition("| room | may import |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `([\w./]+)` \| (.*?) \|", text, re.MULTILINE)
    return {room: set(re.findall(r"`([\w./]+)`", allowed)) for room, allowed in rows}


def room_of(path: Path, rooms: dict[str, set[str]]) -> str:
    """The most specific room that a file belongs to."""
    name = path.relative_to(SOURCE).with_suffix("").as_posix().removesuffix("/__init__")
    while name and name not in rooms:
        name = name.rpartition("/")[0]
    return name


def imports_of(path: Path) -> set[str]:
    """Every module a file imports, at any depth, type checking included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module
            found.add(node.module)
            if node.module.partition(".")[0] == "backplay":
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def needed_by(path: Path, room: str, rooms: dict[str, set[str]]) -> dict[str, str]:
    """The packages and other rooms that a file imports, each with a module that says so."""
    needed = {}
    for module in imports_of(path):
        package = module.partition(".")[0]
        if package in STANDARD_LIBRARY:
            continue
        if package != "backplay":
            needed[package] = module
            continue
        target = SOURCE / Path(*module.split(".")[1:])
        as_file = target.with_suffix(".py")
        file = as_file if as_file.exists() else target / "__init__.py"
        if not file.exists() or file == SOURCE / "__init__.py":
            continue  # a name inside a module, already counted as its module
        needed[room_of(file, rooms)] = module
    needed.pop(room, None)
    return needed


STANDARD_LIBRARY = set(__import__("sys").stdlib_module_names)
FILES = sorted(SOURCE.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(SOURCE).as_posix())
def test_a_file_imports_only_what_its_room_may(path: Path) -> None:
    rooms = read_table()
    if path == SOURCE / "__init__.py":
        return  # public names only: imports every room, and no room imports it
    room = room_of(path, rooms)
    assert room in rooms, f"{path.name} belongs to no room of ARCHITECTURE.md: add it to the table"
    for other, module in needed_by(path, room, rooms).items():
        assert other in rooms[room], f"{room} may not import {other} ({module})"


def test_every_permission_of_the_table_is_used() -> None:
    rooms = read_table()
    unused = {room: set(allowed) for room, allowed in rooms.items()}
    for path in FILES:
        room = room_of(path, rooms)
        if room:
            unused[room] -= needed_by(path, room, rooms).keys()
    assert not {room: names for room, names in unused.items() if names}


def test_every_room_of_the_table_exists() -> None:
    rooms = read_table()
    assert len(rooms) > 8
    for room in rooms:
        assert (SOURCE / room).is_dir() or (SOURCE / f"{room}.py").exists(), room


def test_every_file_of_the_two_walks_exists_and_stands_there_once() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text().partition("## Two walks")[2].partition("\n## ")[0]
    walks = text.split("| file | what happens there |")[1:]
    assert len(walks) == 2
    for walk in walks:
        files = re.findall(r"`([\w/]+\.py)`", walk)
        assert len(files) == len(set(files)) >= 15
        assert [file for file in files if not (SOURCE / file).exists()] == []


def test_nothing_in_the_source_can_run_loaded_code() -> None:
    for path in FILES:
        for module in imports_of(path):
            assert module.partition(".")[0] not in {
                "pickle",
                "cloudpickle",
                "dill",
                "marshal",
                "shelve",
            }
        assert "torch.load(" not in path.read_text(), path
