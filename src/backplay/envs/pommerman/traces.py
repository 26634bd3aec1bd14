"""Recorded games of the public game, played again and compared; our own written in the same form.

Comes in: trace files, one game a line of JSON, packed or not. Goes out: a report with the first
difference, if there is one. Does not know: who played.

A trace: {"v": 1, "kind", "seed", "agents": four names, "max_steps", "size": 11, "s0": state,
"steps": [{"a": four actions, the state after them, "d": done, "r": four rewards}...], "result":
"Win", "Tie" or "Incomplete", "winners": seats}. States are as in states.py.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from backplay.envs.kernels import copy_row, kernel
from backplay.envs.pommerman import layout as at
from backplay.envs.pommerman.bulk import rows_from_json
from backplay.envs.pommerman.rules import outcome, step_with_words
from backplay.envs.pommerman.states import Row, check_actions, differences, from_json, to_json
from backplay.envs.pommerman.validity import in_range
from backplay.errors import BackplayError, ensure, show

VERSION = 1


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Where a game first went another way than its trace."""

    path: Path
    """The file."""
    line: int
    """The game's line, from 1."""
    step: int
    """The step, from 1; 0 if it is about the game as a whole."""
    fields: tuple[str, ...]
    """Each differing field: its name, ours, the trace's."""

    def __str__(self) -> str:
        more = f" and {len(self.fields) - 8} more" if len(self.fields) > 8 else ""
        fields = "; ".join(self.fields[:8])
        return (
            f"{self.path}, game {self.line}, step {self.step}: {fields}{more} (ours, the trace's)"
        )


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What came of playing traces again."""

    files: int
    games: int
    steps: int
    """Steps compared, each from the recorded state before it and in the run of the game."""
    differing: int
    """Games that went another way."""
    first: Difference | None
    """The first of them."""

    @property
    def exact(self) -> bool:
        """Whether every step of every game agrees."""
        return self.first is None

    def __str__(self) -> str:
        seen = f"{self.games:,} games, {self.steps:,} steps"
        if self.first is None:
            return f"{seen}: all exact"
        return f"{seen}: {self.differing:,} games differ, the first: {self.first}"


def verify(
    paths: Iterable[str | os.PathLike[str]],
    progress: Callable[[int, int], None] | None = None,
) -> Verified:
    """Plays every game of these files again and compares every field of every step.

    `progress` is called after each game with the games and steps so far. A file that is no trace
    raises an error; a game that differs is left at its first difference.
    """
    files = games = steps = differing = 0
    first: Difference | None = None
    for path in map(Path, paths):
        files += 1
        for line, game in read_traces(path):
            try:
                played, step, fields = _replay(game)
            except BackplayError as error:
                raise BackplayError(f"{path}, line {line}: {error}") from error
            games, steps = games + 1, steps + played
            if fields:
                differing += 1
                first = first or Difference(path=path, line=line, step=step, fields=tuple(fields))
            if progress is not None:
                progress(games, steps)
    return Verified(files=files, games=games, steps=steps, differing=differing, first=first)


def read_traces(path: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The games of a file, one at a time, with their line numbers."""
    line = 0
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path, "rb") if packed else open(path, "rb") as file:
            for line, text in enumerate(file, start=1):
                if text.strip():
                    yield line, _read_game(text, f"{path}, line {line}")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        what = f"{path}, after line {line}"
        raise BackplayError(what, expected="a whole gzip file", got=str(error)) from error
    except OSError as error:
        raise BackplayError(f"{path}", expected="a readable file", got=str(error)) from error


def trace(
    rows: Sequence[Row],
    actions: Any,
    *,
    agents: Sequence[str],
    seed: int = 0,
    kind: str = "ffa",
) -> dict[str, Any]:
    """The trace of a game: its T + 1 states, and the actions [T, 4] between them."""
    taken = check_actions(actions)
    if taken.ndim != 2 or len(taken) != len(rows) - 1:
        raise BackplayError("actions", expected=f"[{len(rows) - 1}, 4]", got=f"{list(taken.shape)}")
    steps = []
    for before, row in zip(taken.tolist(), rows[1:], strict=True):
        done, rewards = _outcome(row)
        steps.append({"a": before, **to_json(row), "d": done, "r": rewards})
    result, winners = _result(rows[-1])
    return {
        "v": VERSION,
        "kind": kind,
        "seed": seed,
        "agents": list(agents),
        "max_steps": int(rows[0][at.LIMIT]),
        "size": at.SIZE,
        "s0": to_json(rows[0]),
        "steps": steps,
        "result": result,
        "winners": winners,
    }


def write_traces(path: str | os.PathLike[str], games: Iterable[dict[str, Any]]) -> None:
    """Writes games to a file, one a line; packed if its name ends in .gz."""
    path = Path(path)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.part")
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(unfinished, "wt", encoding="ascii") as file:
            for game in games:
                file.write(json.dumps(game, separators=(",", ":")) + "\n")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _read_game(text: bytes, where: str) -> dict[str, Any]:
    try:
        game = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BackplayError(where, expected="a whole line of JSON", got=str(error)) from error
    if not isinstance(game, dict):
        raise BackplayError(where, expected="a game", got=show(game))
    for name, value in (("v", VERSION), ("size", at.SIZE)):
        if game.get(name) != value:
            raise BackplayError(f"{where}, {name}", expected=value, got=show(game.get(name)))
    for name, kind in (("s0", dict), ("steps", list), ("max_steps", int), ("winners", list)):
        if not isinstance(game.get(name), kind):
            got = show(game.get(name))
            raise BackplayError(f"{where}, {name}", expected=f"a {kind.__name__}", got=got)
    return game


def _replay(game: dict[str, Any]) -> tuple[int, int, list[str]]:
    """Steps played, the step at which game and trace differ, and in what (nothing: they agree)."""
    steps, first = game["steps"], from_json(game["s0"])
    first[at.LIMIT] = in_range(game["max_steps"], 1, 32767, "max_steps")
    rows = rows_from_json(first, steps)
    actions = check_actions([step.get("a") for step in steps] or np.empty((0, at.SEATS), int))
    rewards = _numbers([step.get("r") for step in steps], (len(steps), at.SEATS), "r, the rewards")
    dones = _numbers([step.get("d") for step in steps], (len(steps),), "d, whether it is over")
    ensure(actions.shape == rewards.shape, "a, the actions", "four a step", got=list(actions.shape))
    ours = np.empty((2, at.ROW), np.int16)
    paid = np.empty(at.SEATS, np.int16)
    n, done = _first_difference(rows, actions, rewards, dones, ours, paid)
    if n < len(steps):
        fields = differences(ours[0], rows[n + 1])
        fields += [f"from the recorded state: {f}" for f in differences(ours[1], rows[n + 1])]
        if paid.tolist() != rewards[n].tolist():
            fields.append(f"rewards: {paid.tolist()}, {rewards[n].tolist()}")
        if done != dones[n]:
            fields.append(f"done: {done}, {dones[n]}")
        return n + 1, n + 1, fields
    result, winners = _result(rows[-1])
    pairs = (("result", result, game.get("result")), ("winners", winners, game["winners"]))
    return n, 0, [f"{name}: {a}, {b}" for name, a, b in pairs if a != b]


@kernel
def _first_difference(rows, actions, rewards, dones, ours, paid):  # type: ignore[no-untyped-def]
    """The first step at which rows [T + 1, ROW] differ from the game, or T; and whether it is over.

    ours[0] is the game as it runs from its beginning, ours[1] one step from the recorded state.
    """
    done = 0
    copy_row(rows[0], ours[0])
    for t in range(actions.shape[0]):
        copy_row(rows[t], ours[1])
        words = rows[t + 1, at.WORDS : at.BOARD].reshape(at.SEATS, 2)
        step_with_words(ours[0], actions[t], words)
        step_with_words(ours[1], actions[t], words)
        done = outcome(ours[0], paid)
        same = done == dones[t]
        for seat in range(at.SEATS):
            same = same and paid[seat] == rewards[t, seat]
        for n in range(at.ROW):
            same = same and ours[0, n] == rows[t + 1, n] and ours[1, n] == rows[t + 1, n]
        if not same:
            return t, done
    return actions.shape[0], done


def _numbers(values: list[Any], shape: tuple[int, ...], what: str) -> np.ndarray[Any, Any]:
    try:
        numbers = np.array(values) if values else np.empty(shape, np.int64)
    except ValueError:  # lists of different lengths
        numbers = np.empty(0, object)
    if numbers.dtype.kind != "i" or numbers.shape != shape:
        raise BackplayError(what, expected=f"whole numbers {list(shape)}", got=show(values))
    return numbers


def _outcome(row: Row) -> tuple[int, list[int]]:
    rewards = np.zeros(at.SEATS, np.int64)
    return int(outcome(row, rewards)), rewards.tolist()


def _result(row: Row) -> tuple[str, list[int]]:
    """How a game stands, and who has won it."""
    done, rewards = _outcome(row)
    winners = [seat for seat in range(at.SEATS) if rewards[seat] == 1]
    if not done:
        return "Incomplete", []
    return ("Win", winners) if winners else ("Tie", [])
