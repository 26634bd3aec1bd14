"""Imitation in the Maze: cloning, GAIL and DAgger of the demonstrations of a set.

Comes in: mazes with their demonstrations. Goes out: a cloned network; learners for `Training`. The
expert whom DAgger asks is A*, who walked the demonstrations. Does not know: curricula, disks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from gymnasium import spaces

from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.rules import ACTIONS
from backplay.envs.maze.sets import MazeSet
from backplay.envs.maze.solve import planned_actions
from backplay.learners import GAIL, PPO, DAgger, Discriminator, GAILConfig, Pairs, PPOConfig
from backplay.learners.cloning import CloningProgress, clone

MOVES = spaces.Discrete(ACTIONS)
JUDGE = GAILConfig(learning_rate=2e-3, steps=32, minibatch_size=512)
"""About as many gradient steps as the policy makes: with a quarter of them a hundred mazes were
told apart too slowly."""
ASKING = PPOConfig(
    num_steps=40, minibatch_size=512, passes=4, learning_rate=1e-3, entropy_coefficient=0.01,
    value_lambda=None,
)  # fmt: skip
"""Of DAgger: short rollouts, so that the expert is asked about a policy that knows his answers."""


def pairs(mazes: MazeSet) -> Pairs:
    """Every state of every demonstration but its end, and what was done in it."""
    states = [(maze, cell) for maze, path in enumerate(mazes.paths) for cell in path[:-1]]
    return Pairs(np.array(states, np.int32), np.concatenate(mazes.actions).astype(np.int64))


def gail(mazes: MazeSet, seed: int) -> Callable[..., PPO]:
    """Makes a learner that imitates the demonstrations by GAIL."""
    network = FastMazeNetwork(mazes.walls, mazes.goals, seed=seed + 1)
    torch.nn.init.zeros_(network.policy.weight)  # undecided: its first rewards are nothing
    judge = Discriminator(network, MOVES)
    return partial(GAIL, expert=pairs(mazes), discriminator=judge, imitation=JUDGE)


def dagger(mazes: MazeSet) -> Callable[..., PPO]:
    """Makes a learner that asks A* about the states it comes to."""
    return partial(DAgger, expert=lambda seen: planned_actions(mazes, seen), first=pairs(mazes))


def clone_mazes(
    mazes: MazeSet, seed: int, on_progress: Callable[[CloningProgress], None] | None = None
) -> FastMazeNetwork:
    """A network that imitates every demonstration of a set, as far as one can.

    Who wastes a step acts twice in one cell, once so and once otherwise; one of them is imitated.
    """
    network = FastMazeNetwork(mazes.walls, mazes.goals, seed=seed)
    steps = clone(
        network, *pairs(mazes), action_space=MOVES, minibatch_size=512, seed=seed,
        agreement=_attainable(mazes),
    )  # fmt: skip
    for progress in steps:
        if on_progress:
            on_progress(progress)
    return network


def _attainable(mazes: MazeSet) -> float:
    """The share of the demonstrated actions that a function of (maze, cell) can agree with."""
    agreed = 0
    for path, actions in zip(mazes.paths, mazes.actions, strict=True):
        pairs = np.stack([path[:-1].astype(np.int64), actions.astype(np.int64)], 1)
        found, counts = np.unique(pairs, axis=0, return_counts=True)
        agreed += sum(int(counts[found[:, 0] == cell].max()) for cell in np.unique(found[:, 0]))
    return agreed / int(mazes.lengths.sum())
