"""Options that several commands share, and what they check before any work begins."""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import tyro

from backplay.demos import Demonstration
from backplay.demos.doubts import BackplayWarning, doubts
from backplay.demos.fitting import Settings
from backplay.errors import BackplayError, ensure
from backplay.restore.rollout import AnyEnv
from backplay.train.own_envs import on_my_word

EnvId = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="ENV")]
"""The first word of most commands."""
EnvKwargs = Annotated[str, tyro.conf.arg(metavar="JSON")]
"""Arguments of the environment."""


@dataclass(frozen=True, kw_only=True)
class OnEnv:
    """Options of commands that are about an environment."""

    env: EnvId
    """The environment's id, or a class of yours, or a function that makes one: file.py:Class or
    module:Class."""
    success: str | None = None
    """Which endings count as success: info:KEY, return>=X or terminated; by default those that are
    like the demonstration's."""


@dataclass(frozen=True, kw_only=True)
class OnRecorded(OnEnv):
    """Options of commands that take what was recorded."""

    env_kwargs: Annotated[str | None, tyro.conf.arg(metavar="JSON")] = None
    """Arguments of the environment as a JSON object; by default those it was recorded with."""
    trust: bool = False
    """Let the file name paths and code to the environment; see docs/trust.md."""
    settings: Settings = "recorded"
    """Refuse an environment with other settings than the recording's, or keep its own."""


@dataclass(frozen=True, kw_only=True)
class OnDemo(OnRecorded):
    """Options of commands that take a demonstration."""

    demo: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DEMO")]
    """The demonstration's file."""


@dataclass(frozen=True, kw_only=True)
class OnRun:
    """Options of commands that are about one run directory."""

    dir: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DIR")]
    """The run's directory."""
    env: str | None = None
    """The run's environment, said again, if it is code of yours: file.py:Class or module:Class."""
    trust: bool = False
    """Let the file name paths and code to the environment; see docs/trust.md."""

    def __post_init__(self) -> None:
        if self.env is not None:
            on_my_word(self.env)


@dataclass(frozen=True, kw_only=True)
class NewDemo(OnEnv):
    """Options of commands that make a demonstration."""

    out: Path
    """Where to write the demonstration."""
    seed: int = 0
    """Of the environment's reset."""
    env_kwargs: EnvKwargs = "{}"
    """Arguments of the environment as a JSON object."""
    overwrite: bool = False
    """Replace the file if it exists."""


def command_of(program: str, config: Any) -> str:
    """What to type to get the same again: `program` with all that is not as by default."""
    hints = get_type_hints(type(config), include_extras=True)
    named: list[str] = []
    words = program.split()
    for field in fields(config):
        value = getattr(config, field.name)
        given = [str(one) for one in value] if isinstance(value, tuple) else [str(value)]
        if tyro.conf.Positional in getattr(hints[field.name], "__metadata__", ()):
            words += given
        elif value != field.default and value is not None:
            named += [f"--{field.name.replace('_', '-')}", *([] if value is True else given)]
    return shlex.join(words + named)


def require_at_least(config: Any, **least: float) -> None:
    """Refuses options below their least; what is None was not given."""
    for name, minimum in least.items():
        value = getattr(config, name)
        if value is not None and not value >= minimum:
            option = f"--{name.replace('_', '-')}"
            raise BackplayError(option, expected=f"at least {minimum}", got=str(value))


def require_new_file(path: Path, *, overwrite: bool) -> None:
    """Refuses a path that is taken, or that could not be written at the end of the work."""
    ensure(not path.is_dir(), f"{path} is a directory", do="Name a file, such as demo.npz.")
    ensure(
        not path.exists() or overwrite, f"{path} exists already",
        do="Choose another --out, or pass --overwrite; nothing was written.",
    )  # fmt: skip
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    ensure(
        folder.is_dir() and os.access(folder, os.W_OK | os.X_OK), f"{path} cannot be written",
        "a folder that may be written", got=str(folder),
        do="Choose another --out; nothing was written.",
    )  # fmt: skip


def say_doubts(env: AnyEnv, demo: Demonstration, success: str | None) -> bool:
    """Warns on standard error of a demonstration that does not look like a success."""
    found = doubts(env, demo, success)
    if found:
        print(f"backplay: warning: {found}", file=sys.stderr)
    return found is not None


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keeps the library's own warnings back, where the command says the same in its own way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BackplayWarning)
        yield
