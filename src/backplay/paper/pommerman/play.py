"""How well somebody plays Pommerman from the first state of every map: wins, and what it did.

Comes in: maps, a policy, how many games of each. Goes out: wins by map, lengths, actions counted.
Does not know: who learned, or how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.layout import ACTIONS, MAX_STEPS, SEATS
from backplay.envs.pommerman.learner import episode_rules, is_over, result
from backplay.envs.pommerman.recordings import Perspective
from backplay.envs.pommerman.sights import Sees, sight
from backplay.envs.pommerman.starts import Starts
from backplay.envs.pommerman.vector import PommermanVector
from backplay.records import Start
from backplay.train.evaluate import Act, Evaluation

BOMB = 5  # the action
AT_ONCE = 256  # games side by side
SHARES = (0.9, 0.8, 0.7, 0.6, 0.5)  # the rows of the paper's per-map table, appendix A.8


@dataclass(frozen=True, eq=False)
class PlayedGames:
    """Games from the first state of each of n maps, k of each."""

    wins: NDArray[np.bool_]
    """[n, k]"""
    ties: NDArray[np.bool_]
    """[n, k]: nobody was left, or time was up."""
    returns: NDArray[np.float64]
    """[n, k]"""
    lengths: NDArray[np.int64]
    """[n, k]"""
    actions: NDArray[np.int64]
    """How often each action was chosen in all, [6]: Pass, Up, Down, Left, Right, Bomb."""

    @property
    def by_map(self) -> list[float]:
        """The share of games won on each map."""
        return [float(share) for share in self.wins.mean(1)]

    @property
    def bomb_share(self) -> float:
        """Of all actions."""
        return float(self.actions[BOMB] / max(1, self.actions.sum()))

    def maps_won(self) -> dict[str, int]:
        """How many maps were won at least so often, as the caption of the paper's table has it.

        The numbers in that table do not grow from row to row: they must be of maps between two
        shares, so these compare with its rows added up.
        """
        shares = self.wins.mean(1)
        return {f"{share:.0%}": int((shares >= share).sum()) for share in SHARES}

    def as_evaluation(self) -> Evaluation:
        """The same as the training loop wants it."""
        return Evaluation(self.wins.ravel(), self.returns.ravel(), self.lengths.ravel())


def play_maps(
    maps: Sequence[Perspective],
    act: Act,
    *,
    games: int,
    seed: int,
    opponents: str,
    simulations: int,
    observation: Sees = "planes",
) -> PlayedGames:
    """Plays `games` games from the first state of each map, in the seat of its demonstration.

    The boards are the same in every game of a map; the opponents' dice are not.
    """
    starts = [Start(k, 0) for k in range(len(maps)) for _ in range(games)]
    n = len(starts)
    wins, ties = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    returns, lengths = np.zeros(n), np.zeros(n, np.int64)
    actions = np.zeros(ACTIONS, np.int64)
    for first in range(0, n, AT_ONCE):
        part = slice(first, min(first + AT_ONCE, n))
        envs = PommermanVector(
            part.stop - first, opponents=opponents, simulations=simulations, demos=maps,
            initial="demonstration", copy=False, observation=observation,
        )  # fmt: skip
        try:
            results, returns[part], lengths[part] = _first_games(
                envs, starts[part], act, seed + first, actions
            )
        finally:
            envs.close()
        wins[part], ties[part] = results == "win", results == "tie"
    shape = (len(maps), games)
    return PlayedGames(
        wins.reshape(shape), ties.reshape(shape), returns.reshape(shape), lengths.reshape(shape),
        actions,
    )  # fmt: skip


def _first_games(
    envs: PommermanVector, starts: list[Start], act: Act, seed: int, actions: NDArray[np.int64]
) -> tuple[NDArray[np.object_], NDArray[np.float64], NDArray[np.int64]]:
    """One game in each env: results, returns, lengths; the actions chosen are counted."""
    n = len(starts)
    results = np.full(n, None, object)
    returns, lengths = np.zeros(n), np.zeros(n, np.int64)
    observations, _ = envs.reset(seed=seed, options={"starts": starts})
    going = np.arange(n)
    while len(going):
        chosen = np.zeros(n, np.int64)  # whose game is over passes, unseen
        chosen[going] = act(observations[going])
        actions += np.bincount(chosen[going], minlength=ACTIONS)
        observations, rewards, over, _, infos = envs.step(chosen)
        returns[going] += rewards[going]
        lengths[going] += 1
        ended = going[over[going]]
        if len(ended):
            results[ended] = infos["final_info"]["result"][ended]
            going = going[~over[going]]
    return results, returns, lengths


def kept_game(
    place: Perspective,
    act: Act,
    *,
    seed: int,
    opponents: str,
    simulations: int,
    observation: Sees = "planes",
    step: int = 0,
) -> dict[str, Any]:
    """A game from the state before `step` of a map, in the seat of its demonstration.

    From the first state it is the first that `play_maps` plays on this map with the same seed, for
    a policy that does the same in the same place.
    """
    seat, games = place.seat, Games(1)
    games.seat(0, episode_rules(opponents, None, simulations, 0.0, MAX_STEPS).around(seat))
    starts = Starts([place], [None], "demonstration", "reseed", "doubled")
    starts.enter(games, 0, Start(0, step), np.random.default_rng([seed, 0xBAC]))
    row, first = games.rows[0], games.rows[0].tolist()
    seeing, seats = sight(observation, 1), np.array([seat])
    outside, actions = np.zeros((1, SEATS), np.int64), []
    try:
        while not is_over(row, seat, games.dones[0]):
            seeing.look(0, 1, games.previous, games.rows, seats)
            outside[0, seat] = seeing.meant(act(seeing.seen), seats)[0]
            games.advance(outside)
            actions.append(games.actions[0].tolist())
    finally:
        games.close()
    return {"first": first, "actions": actions, "seat": seat, "result": result(row, seat)}
