"""A network that sees the maze from where the agent stands, for mazes never seen.

    network = SightedMazeNetwork(mazes.walls, mazes.goals, seed=0, sight=9)
    logits, values = network(observations)          # [n, 2]: maze, cell of the agent

A sum of rows for the facts of a state (`facts.py`), two full layers, a policy and a value head. It
has no weight for a cell of the board, so what it learns in one place it knows in all, and it plays
in mazes of any size. The same information as the paper's planes, but for walls out of sight.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from backplay.envs.maze.facts import find_facts, most_facts, number_of_facts, turned_actions
from backplay.envs.maze.rules import ACTIONS
from backplay.errors import whole
from backplay.learners.encoders import linear
from backplay.learners.sparse import FactSum

WIDTH, HIDDEN = 256, 128
TYPICAL = 50  # facts that hold at a time


class SightedMazeNetwork(nn.Module):
    """A function of (maze, cell) that knows the maze by what is around the agent."""

    turned: Tensor

    def __init__(
        self,
        walls: NDArray[np.bool_],
        goals: NDArray[np.integer[Any]],
        *,
        seed: int,
        sight: int = 9,
    ) -> None:
        """A network for mazes with these walls [mazes, height, width] and goal cells [mazes].

        `sight` is how many cells it sees in each direction.
        """
        super().__init__()
        whole("sight", sight, 1)
        generator = torch.Generator().manual_seed(seed)
        self.sight, self.walls, self.goals = sight, walls, np.asarray(goals, np.int64)
        self.first = FactSum(number_of_facts(sight), WIDTH, typical=TYPICAL, generator=generator)
        self.second = linear(WIDTH, HIDDEN, sqrt(2), generator)
        self.third = linear(HIDDEN, HIDDEN, sqrt(2), generator)
        self.policy = linear(HIDDEN, ACTIONS, 0.01, generator)
        self.value = linear(HIDDEN, 1, 1.0, generator)
        self.register_buffer("turned", torch.from_numpy(turned_actions()), persistent=False)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, 5] and values [n] of observations (maze, cell) [n, 2]."""
        places = np.ascontiguousarray(observations.numpy())
        facts = np.empty((len(places), most_facts(self.sight)), np.int32)
        turns = np.empty(len(places), np.int64)
        mazes, height, width = self.walls.shape
        find_facts(
            self.walls.reshape(mazes, -1), self.goals, height, width, self.sight, places, facts,
            turns,
        )  # fmt: skip
        features = self.first(torch.from_numpy(facts)).relu()
        features = self.third(self.second(features).relu()).relu()
        logits = self.policy(features).gather(1, self.turned[torch.from_numpy(turns)])
        values: Tensor = self.value(features).squeeze(-1)
        return logits, values

    def on(self, walls: NDArray[np.bool_], goals: NDArray[np.integer[Any]]) -> SightedMazeNetwork:
        """A network for other mazes, of any size, with a copy of this one's weights."""
        other = SightedMazeNetwork(walls, goals, seed=0, sight=self.sight)
        other.load_state_dict(self.state_dict())
        return other

    def forget(self) -> None:
        """Nothing: it keeps nothing of what it has computed."""
