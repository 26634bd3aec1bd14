"""Sets of recorded games: played, chosen and kept in one file.

    library = make_games(4, held_out=10)
    library.save("games.npz")
    demos = [game.seen_by("winner").record(env) for game in load_games("games.npz").training]

A file keeps each game's first state, the actions, the memories and streams of every step, and the
last state. The states between are played again when it is loaded and must lead to the last one:
games that were made under other rules are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from backplay.data import archive
from backplay.data.arrays import checked_array
from backplay.envs.pommerman import snapshots, states
from backplay.envs.pommerman.layout import ACTIONS, MAX_STEPS, SEATS
from backplay.envs.pommerman.matches import Match, in_order, play_match
from backplay.envs.pommerman.players import player
from backplay.envs.pommerman.recordings import Game, PerspectiveName, game_from
from backplay.errors import BackplayError, DemonstrationError

_KIND = "backplay pommerman games"
_FIELDS = {"training", "held_out", "agent", "perspective", "seed", "played"}
_GAME = {"number", "first", "actions", "memories", "streams", "last"}
LEAST_STEPS = 240  # shorter games are not kept, as the paper's authors did
PER_SEAT = 4  # a set of this size has one map for every seat


@dataclass(frozen=True, eq=False)
class Library:
    """Games to learn from and games to be measured on."""

    training: list[Game]
    held_out: list[Game]
    agent: str
    """Who played, in all four seats."""
    perspective: PerspectiveName
    """Whose game a learner is to follow."""
    seed: int
    played: int
    """How many games it took."""

    def save(self, path: str | Path) -> None:
        """Writes it to one file, atomically."""
        tree: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        for part in ("training", "held_out"):
            tree[part] = [_pack(game) for game in tree[part]]
        archive.write(path, _KIND, tree)

    def __str__(self) -> str:
        games = self.training + self.held_out
        steps = [len(game) for game in games]
        seats = Counter(game.seen_by(self.perspective).seat for game in self.training)
        listed = ", ".join(f"seat {seat}: {seats[seat]}" for seat in range(SEATS))
        return (
            f"{len(self.training)} games to train on, {len(self.held_out)} held out,"
            f" of {self.played} played by {self.agent} (seed {self.seed});"
            f" {min(steps)} to {max(steps)} steps; the {self.perspective} in {listed}"
        )


@dataclass
class _Shelf:
    """The games kept so far, and what is still missing."""

    maps: int
    held_out: int
    perspective: PerspectiveName
    kind: int
    training: list[Game] = field(default_factory=list)
    others: list[Game] = field(default_factory=list)

    @property
    def missing(self) -> int:
        return self.maps + self.held_out - len(self.training) - len(self.others)

    def offer(self, match: Match) -> None:
        """Keeps a match if it has one survivor, is long enough and has a place left for it."""
        if match.winner is None or match.steps < LEAST_STEPS:
            return
        assert match.kept is not None
        game = game_from(match.number, self.kind, match.first, *match.kept)
        if len(self.training) < self.maps and self._is_wanted(game):
            self.training.append(game)
        elif len(self.others) < self.held_out:
            self.others.append(game)

    def _is_wanted(self, game: Game) -> bool:
        if self.maps != PER_SEAT:
            return True
        taken = {kept.seen_by(self.perspective).seat for kept in self.training}
        return game.seen_by(self.perspective).seat not in taken


def make_games(
    maps: int,
    *,
    held_out: int = 10,
    perspective: PerspectiveName = "winner",
    agent: str = "fsmts",
    simulations: int = 50,
    seed: int = 0,
    jobs: int = 1,
    shield: bool = False,
    progress: Callable[[int, int, int], None] = lambda kept, wanted, played: None,
) -> Library:
    """Plays games of four `agent`s and keeps the first fit ones: one survivor, 240 steps or more.

    Each agent is asked once a step, and what it answers is what is done and recorded. A set of 4
    has one map for each seat, that of the winner or of the runner-up; larger sets take what comes.
    Games are numbered and taken in their order, so the set depends on the seed alone.

    Args:
        maps: games to train on.
        held_out: games to measure on.
        perspective: whose game a learner is to follow.
        agent: who plays, see `players`.
        simulations: of each search.
        seed: of all games.
        jobs: threads.
        shield: whether nobody is burned by the explosion of an own bomb, in these games and in all
            that start from their states; the authors' generator had such a switch.
        progress: called with games kept, games wanted and games played.
    """
    if maps < 1 or held_out < 0:
        raise BackplayError(
            "maps", expected="at least 1, and held_out at least 0", got=(maps, held_out)
        )
    four = [player(agent, simulations)] * SEATS
    shelf = _Shelf(maps, held_out, perspective, four[0].kind)
    played = 0

    def play(number: int) -> Match:
        return play_match(four, seed, number, keep=True, shield=shield)

    for match in in_order(play, jobs=jobs):
        shelf.offer(match)
        played += 1
        progress(maps + held_out - shelf.missing, maps + held_out, played)
        if not shelf.missing:
            break
    name = agent if ":" in agent or agent != "fsmts" else f"{agent}:{simulations}"
    return Library(shelf.training, shelf.others, name, perspective, seed, played)


def load_games(path: str | Path) -> Library:
    """Reads a file of games; DemonstrationError if it is damaged, or was made under other rules."""
    tree = archive.read(path, _KIND)
    try:
        if not isinstance(tree, dict) or tree.keys() != _FIELDS:
            raise ValueError("other fields than a set of games has")
        _require(type(tree["seed"]) is int and type(tree["played"]) is int, "seed and played")
        _require(tree["perspective"] in ("winner", "runner-up"), "perspective")
        kind = player(tree["agent"]).kind
        for part in ("training", "held_out"):
            _require(isinstance(tree[part], list), part)
            tree[part] = [_unpack(game, kind) for game in tree[part]]
        _require(len(tree["training"]) > 0, "no games")
        return Library(**tree)
    except Exception as error:  # whatever hostile data brings about
        raise DemonstrationError(
            f"{path} cannot be used", expected="games played under these rules",
            got=f"{str(error)[:300]}", do="Make it again: backplay pommerman demos.",
        ) from error  # fmt: skip


def _pack(game: Game) -> dict[str, Any]:
    return {
        "number": game.number,
        "first": game.rows[0],
        "actions": game.actions,
        "memories": game.memories,
        "streams": game.streams,
        "last": game.rows[-1],
    }


def _unpack(tree: Any, kind: int) -> Game:
    """A game from a file, where a kernel will read nothing that could lead it astray."""
    _require(isinstance(tree, dict) and tree.keys() == _GAME, "a game of other fields")
    actions = checked_array(
        "actions", tree["actions"], np.int8, (None, SEATS), low=0, high=ACTIONS - 1
    )
    steps = len(actions)
    _require(1 <= steps <= MAX_STEPS, "a game of so many steps")
    states.validate(tree["first"])
    states.validate(tree["last"])
    snapshots.check_memories(tree["memories"], [kind] * SEATS, steps + 1)
    snapshots.check_streams(tree["streams"], steps + 1)
    _require(type(tree["number"]) is int, "number")
    kept = (tree["memories"], tree["streams"])
    game = game_from(tree["number"], kind, tree["first"], actions, *kept)
    different = states.differences(game.rows[-1], tree["last"])
    if different:
        raise ValueError(f"game {game.number} ends otherwise than recorded: {different[0]}")
    _require(game.winner is not None, "a game without a winner")
    return game


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
