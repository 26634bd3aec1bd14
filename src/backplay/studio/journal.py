"""The takes of a recording: those that are kept, and the one so far, on disk.

Comes in: episodes as they were played, actions, where a take was cut. Goes out: a line on each take
that is kept; after a kill, what was played. One file per recording, a line for everything that was
done, written as it is done, and held by the process that writes it; a file that nobody holds is
offered again. Does not know: environments.
"""

from __future__ import annotations

import fcntl
import json
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from backplay.demos.take import Take
from backplay.errors import BackplayError, ensure
from backplay.studio.folder import HIDDEN, Folder

MOST = 20
_MOST_BYTES = 2**28


@dataclass(frozen=True)
class KeptTake:
    """A take that can be opened again."""

    actions: tuple[Any, ...]
    total_reward: float
    ended: str
    success: bool | None

    @property
    def merit(self) -> tuple[Any, ...]:
        """Success first, then the return, then being short."""
        return self.success is True, self.total_reward, -len(self.actions)


class Takes:
    """At most so many takes; of more, the worst is let go."""

    def __init__(self) -> None:
        self.kept: list[KeptTake] = []

    def __len__(self) -> int:
        return len(self.kept)

    def keep(self, take: Take, success: bool | None) -> bool:
        """Keeps the whole of a take; whether it was not there already."""
        actions = tuple(take.actions)
        if not actions or any(_same(actions, kept.actions) for kept in self.kept):
            return False
        self.kept.append(KeptTake(actions, sum(take.rewards), ending_of(*take.ends), success))
        if len(self.kept) > MOST:
            del self.kept[min(range(MOST), key=lambda i: self.kept[i].merit)]
        return True

    def at(self, index: int) -> KeptTake:
        """One of them."""
        ensure(index < len(self.kept), "There is no such take")
        return self.kept[index]

    def drop(self, index: int) -> None:
        """Forgets one."""
        self.at(index)
        del self.kept[index]

    def listed(self) -> list[dict[str, Any]]:
        """A line on each; the first of the best is said to be it."""
        best = max((kept.merit for kept in self.kept), default=None)
        first = next((i for i, kept in enumerate(self.kept) if kept.merit == best), None)
        return [
            {
                "length": len(kept.actions), "total": kept.total_reward, "ended": kept.ended,
                "success": kept.success, "best": i == first,
            }
            for i, kept in enumerate(self.kept)
        ]  # fmt: skip


def ending_of(terminated: bool, truncated: bool) -> str:
    """How an episode ended, in a word; empty while it goes on."""
    return "terminated" if terminated else "truncated" if truncated else ""


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    if len(one) != len(other):
        return False
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What is recorded."""

    env: str
    """The environment's id."""
    env_kwargs: dict[str, Any] = field(default_factory=dict)
    """Its arguments."""
    seed: int = 0
    """Of its reset."""


@dataclass(frozen=True, kw_only=True)
class Left:
    """A recording that was not ended."""

    name: str
    task: Setup
    began: float
    """Seconds since 1970."""
    actions: list[Any]
    """Of the take that was being played."""
    takes: list[list[Any]]
    """The actions of those that were kept."""


class Journal:
    """The file of one recording."""

    def __init__(self, folder: Folder, task: Setup) -> None:
        self.path = _place(folder) / f"{time.time_ns()}-{secrets.token_hex(3)}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file: TextIO = self.path.open("x", encoding="utf-8")
        fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._write({"task": asdict(task), "began": time.time()})

    def act(self, action: Any) -> None:
        """One more action."""
        self._write({"act": _plain(action)})

    def back(self, length: int) -> None:
        """Only so many actions are left."""
        self._write({"back": length})

    def replace(self, actions: Sequence[Any]) -> None:
        """Other actions than before."""
        self._write({"all": [_plain(action) for action in actions]})

    def keep(self, takes: Sequence[Sequence[Any]]) -> None:
        """The takes that are kept beside this one."""
        self._write({"takes": [[_plain(action) for action in take] for take in takes]})

    def close(self, *, remove: bool) -> None:
        """Ends it; what is not removed is offered again."""
        if remove:
            self.path.unlink(missing_ok=True)
        self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        try:
            print(json.dumps(line), file=self._file, flush=True)
        except OSError as error:
            raise BackplayError(
                "The take cannot be kept on disk", got=error.strerror,
                do="Make room; what is played now would be lost to a crash.",
            ) from error  # fmt: skip


def left_behind(folder: Folder) -> list[Left]:
    """The recordings that nobody holds, the newest first."""
    found = []
    for path in sorted(_place(folder).glob("*.jsonl"), reverse=True):
        if not _is_held(path):
            left = _read(path)
            if left is not None:
                found.append(left)
    return found


def find(folder: Folder, name: object) -> Left:
    """The recording of this name."""
    for left in left_behind(folder):
        if left.name == name:
            return left
    raise BackplayError("This recording is gone", do="Look at the list again.")


def remove(folder: Folder, name: object) -> None:
    """Forgets a recording."""
    (_place(folder) / find(folder, name).name).unlink(missing_ok=True)


def _place(folder: Folder) -> Path:
    return folder.path / HIDDEN / "takes"


def _is_held(path: Path) -> bool:
    try:
        with path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def _read(path: Path) -> Left | None:
    """What a file says; None if nothing was played, or if it is no file of ours."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        lines = path.read_text().split("\n")
        head = json.loads(lines[0])
        actions: list[Any] = []
        takes: list[list[Any]] = []
        for text in lines[1:]:
            with suppress(json.JSONDecodeError):  # the last line of a killed process
                line = json.loads(text) if text else {}
                if "act" in line:
                    actions.append(line["act"])
                elif "back" in line:
                    del actions[line["back"] :]
                elif "all" in line:
                    actions = list(line["all"])
                elif "takes" in line:
                    takes = [list(take) for take in line["takes"]]
        if not actions and not takes:
            path.unlink()
            return None
        task = Setup(**head["task"])
        began = float(head["began"])
        return Left(name=path.name, task=task, began=began, actions=actions, takes=takes)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _plain(action: Any) -> Any:
    return np.asarray(action).tolist()
