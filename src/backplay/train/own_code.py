"""Python files of the user's own, run because they named them on their command line.

Comes in: a path, from the command line and never from a file. Goes out: the module, or one line
that says what is wrong in which line. Does not know: what is looked for in it.
"""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from backplay.errors import BackplayError


def import_file(path: Path) -> ModuleType:
    """The module that a file is; it can import what stands beside it. This runs the file."""
    name = own_module(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BackplayError(f"{path} is no Python file", do="Name a file that ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look themselves up there
    beside = str(path.absolute().parent)
    sys.path.insert(0, beside)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise broken(path, error) from error
    finally:
        sys.path.remove(beside)
    return module


def own_module(path: Path) -> str:
    """The name under which a file's module is known: one called random.py is not `random`."""
    return f"backplay_own_code_{path.stem}"


def broken(path: Path, error: Exception) -> BackplayError:
    """What the user's own code did wrong, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame.lineno for frame in frames if Path(frame.filename) == path.absolute()]
    line = error.lineno if isinstance(error, SyntaxError) else own[-1] if own else None
    return BackplayError(
        f"{path}, line {line}" if line else str(path),
        got=f"{type(error).__name__}: {str(error)[:200]}",
        do="Correct the file.",
    )
