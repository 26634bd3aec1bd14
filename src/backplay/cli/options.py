"""Options that several commands share, and what they check before any work begins."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import tyro

from backplay.demos import Demonstration
from backplay.demos.doubts import BackplayWarning, doubts
from backplay.errors import BackplayError
from backplay.restore.rollout import AnyEnv

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


def say_doubts(env: AnyEnv, demo: Demonstration, success: str | None) -> None:
    """Warns on standard error of a demonstration that does not look like a success."""
    found = doubts(env, demo, success)
    if found:
        print(f"backplay: warning: {found}", file=sys.stderr)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keeps the library's own warnings back, where the command says the same in its own way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BackplayWarning)
        yield
