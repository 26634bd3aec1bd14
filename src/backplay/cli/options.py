"""Options that several commands share, and what they check before any work begins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import tyro

from backplay.errors import BackplayError

EnvId = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ENV")]
"""The first word of most commands."""
EnvKwargs = Annotated[str, tyro.conf.arg(metavar="JSON")]
"""Arguments of the environment."""


def require_new_file(path: Path, *, overwrite: bool) -> None:
    """Refuses a path that is taken, or that could not be written at the end of the work."""
    if path.is_dir():
        raise BackplayError(f"{path} is a directory", do="Name a file, such as demo.npz.")
    if path.exists() and not overwrite:
        raise BackplayError(
            f"{path} exists already",
            do="Choose another --out, or pass --overwrite; nothing was written.",
        )
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise BackplayError(
            f"{path} cannot be written",
            expected="a folder that may be written",
            got=str(folder),
            do="Choose another --out; nothing was written.",
        )
