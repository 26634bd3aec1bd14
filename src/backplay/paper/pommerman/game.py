"""One game of Pommerman kept small: its first state and what all four did in each step.

Comes in: a map, a policy, a seed. Goes out: plain data from which the rules play the same game
again, a few thousand characters. Does not know: who learned, or how the game is drawn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backplay.envs.pommerman.games import Games
from backplay.envs.pommerman.layout import MAX_STEPS, SEATS
from backplay.envs.pommerman.learner import is_over, result, task
from backplay.envs.pommerman.recordings import Perspective
from backplay.envs.pommerman.sights import Sees, sight
from backplay.envs.pommerman.starts import Starts
from backplay.records import Start
from backplay.train.evaluate import Act


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
    games.seat(0, task(opponents, None, simulations, 0.0, MAX_STEPS).around(seat))
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
