"""Pommerman in pictures: the games that are learned from, and games of a policy from any step.

Comes in: maps, a policy, who the others are. Goes out: pictures, games as they go on. Does not
know: training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.envs.pommerman.draw import picture
from backplay.envs.pommerman.layout import DTYPE
from backplay.envs.pommerman.recordings import Perspective, play_again
from backplay.learners import PPO
from backplay.paper.pommerman.play import kept_game
from backplay.train.agent import acting
from backplay.train.scenes import Moment, Scenes


class PommermanScenes(Scenes):
    """Maps and a policy that plays on them."""

    def __init__(self, maps: Sequence[Perspective], learner: PPO, **against: Any) -> None:
        """Games in the seats of `maps`; the rest is as in training, for `kept_game`."""
        self.maps, self.learner, self._against = maps, learner, against

    @property
    def lengths(self) -> list[int]:
        """The steps of each game, until its seat is out of it."""
        return [len(one) for one in self.maps]

    def picture(self, demo: int, step: int) -> NDArray[np.uint8]:
        """The board before a step of a recorded game."""
        return picture(self.maps[demo].game.rows[step])

    def play(self, demo: int, step: int, *, greedy: bool, seed: int) -> Iterator[Moment]:
        """A game from that board on; the seed is that of the others' dice, too."""
        kept = kept_game(
            self.maps[demo], acting(self.learner, greedy=greedy, seed=seed), seed=seed, step=step,
            **self._against,
        )  # fmt: skip
        actions = np.array(kept["actions"], np.int64)
        rows = np.repeat(np.array(kept["first"], DTYPE)[None], len(actions) + 1, 0)
        play_again(rows, actions)
        won = kept["result"] == "win"
        for at, row in enumerate(rows):
            over = at == len(actions)
            total = (1.0 if won else -1.0) if over else 0.0
            yield Moment(partial(picture, row), total, won if over else None)
