"""The one folder that the pages can see: names in it, and nothing outside.

Comes in: names from the page. Goes out: paths inside the folder, or an error. Does not know: what
is in the files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backplay.errors import BackplayError, ensure, show

HIDDEN = ".backplay"
_NAME = re.compile(r"[\w][\w. -]{0,100}\.npz")
_DEEP = 4  # folders below the first in which demonstrations and runs are looked for
_MOST = 500


@dataclass(frozen=True)
class Folder:
    """A folder of demonstrations and runs."""

    path: Path

    def inside(self, name: object) -> Path:
        """The path of `name`, which must lie in this folder, links followed."""
        root = self.path.resolve()
        if isinstance(name, str) and name and "\0" not in name:
            path = (root / name).resolve()
            if path.is_relative_to(root):
                return path
        raise BackplayError(
            "path", expected="a file in the studio's folder", got=show(name),
            do="Start the studio in a folder that holds it.",
        )  # fmt: skip

    def existing(self, name: object) -> Path:
        """The same, of something that is there."""
        path = self.inside(name)
        if not path.exists():
            raise BackplayError(f"There is no {self.name_of(path)}", do="Look at the list again.")
        return path

    def new_file(self, name: object, *, overwrite: bool = False) -> Path:
        """Where to write a demonstration of this name."""
        ensure(
            isinstance(name, str) and _NAME.fullmatch(name), "name",
            "letters, digits, dots and dashes, with .npz at the end", name,
        )  # fmt: skip
        path = self.inside(name)
        if path.exists() and not overwrite:
            raise BackplayError(f"{name} exists already", do="Choose another name, or replace it.")
        return path

    def name_of(self, path: Path) -> str:
        """The name of a path in this folder, as the page writes it."""
        return path.resolve().relative_to(self.path.resolve()).as_posix()

    def demonstrations(self) -> list[Path]:
        """Files that may be demonstrations, the newest first; those of runs are left out."""
        found = [path for path in self._walk(self.path, _DEEP) if path.suffix == ".npz"]
        return sorted(found, key=lambda path: -path.stat().st_mtime)[:_MOST]

    def runs(self) -> list[Path]:
        """Run directories, the newest first."""
        found = [path.parent for path in self._walk(self.path, _DEEP) if path.name == "config.json"]
        return sorted(found, key=lambda path: -path.stat().st_mtime)[:_MOST]

    def _walk(self, folder: Path, deep: int) -> Iterator[Path]:
        """Files worth a look: of a run directory the config alone."""
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            return
        config = folder / "config.json"
        if config in entries:
            yield config
            return
        for entry in entries:
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir() and deep:
                yield from self._walk(entry, deep - 1)
            elif entry.is_file():
                yield entry
