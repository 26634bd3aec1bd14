"""The paper's three grid worlds and its binary tree (section 3.2) as tasks for a table.

Comes in: the name of a world. Goes out: how to train in it, what was demonstrated, and how well
somebody plays from given places. Does not know: curricula's names, disks, screens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray

from backplay.curricula import Curriculum
from backplay.envs import tree
from backplay.envs.maze.evaluate import drawn, play
from backplay.envs.maze.sets import MazeSet
from backplay.envs.maze.vector import MazeVector
from backplay.envs.maze.worlds import WORLDS, beside, world
from backplay.learners import PPOConfig
from backplay.paper.grid_worlds.job import ENVS, STEPS
from backplay.train import MakeNetwork, TrainConfig, Training
from backplay.train.evaluate import Act, Evaluation

PPO_CONFIG = PPOConfig(
    num_steps=STEPS, passes=4, learning_rate=3e-2, final_learning_rate=0.1,
    entropy_coefficient=0.01, value_lambda=None,
)  # fmt: skip
EVALUATIONS = 40
NEAR = 2  # steps from the demonstration that count as beside it

Pairs = tuple[NDArray[Any], NDArray[Any]]


class Tabular(torch.nn.Module):
    """Logits and a value for each place: what is done in one says nothing about another.

    The values have a part in common, unless told otherwise. Without it a place not yet seen, at 0,
    looks better than any where steps were paid for, and that alone drives all regimes to explore.
    """

    def __init__(self, places: int, actions: int, *, seed: int, common: bool = True) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        # So that a greedy choice in a place not yet seen is any, not the first action.
        noise = 1e-3 * torch.randn(places, actions, generator=generator)
        self.logits = torch.nn.Parameter(noise)
        self.values = torch.nn.Parameter(torch.zeros(places, 1))
        self.in_common = torch.nn.Parameter(torch.zeros(1), requires_grad=common)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Of nodes [n], or of (maze, cell) [n, 2] in a set of one maze."""
        place = observations.reshape(len(observations), -1)[:, -1].long()
        values = self.values.index_select(0, place).squeeze(1)
        return self.logits.index_select(0, place), values + self.in_common


def table(
    observation_space: Any, action_space: Any, *, seed: int, common: bool = True
) -> torch.nn.Module:
    """A table for the places of a space."""
    many = isinstance(observation_space, gym.spaces.MultiDiscrete)
    places = observation_space.nvec[-1] if many else observation_space.n
    return Tabular(int(places), int(action_space.n), seed=seed, common=common)


class World:
    """One of the worlds."""

    starts: int
    """How many different true starts are measured."""
    shortest: int
    """Steps of the shortest way from a true start."""
    length: int
    """Steps of the demonstration."""
    spaces: tuple[gym.spaces.Space[Any], gym.spaces.Space[Any]]
    """Of observations and of actions."""

    def pairs(self) -> Pairs:
        """What the demonstrator saw, [T, ...], and did, [T]."""
        raise NotImplementedError

    def training(
        self,
        curriculum: Curriculum,
        frames: int,
        seed: int,
        *,
        network: MakeNetwork = table,
        **start: Any,
    ) -> Training:
        """A run at its beginning; a restored episode has its full time."""
        config = TrainConfig(
            frames=frames, num_envs=ENVS, seed=seed, evaluate_every=max(1, frames // EVALUATIONS),
            ppo=PPO_CONFIG,
        )  # fmt: skip
        return self._training(
            curriculum, config, evaluator=self.from_start, network=network, **start
        )

    def _training(self, curriculum: Curriculum, config: TrainConfig, **start: Any) -> Training:
        raise NotImplementedError

    def from_start(self, act: Act, *, episodes: int, seed: int) -> Evaluation:
        """What comes of episodes from the true start."""
        raise NotImplementedError

    def from_beside(self, act: Act) -> Evaluation:
        """What comes of an episode from every place near the demonstration, but off it."""
        raise NotImplementedError

    def walked(self, act: Act) -> list[dict[str, Any]]:
        """One episode from the true start, enough for a picture; empty where there is no board."""
        return []


class GridWorld(World):
    """A maze in which every episode starts at S."""

    starts = 1

    def __init__(self, which: str | MazeSet) -> None:
        """One of the paper's worlds by its name, or any set of one maze."""
        self.mazes = world(which) if isinstance(which, str) else which
        self.shortest, self.length = int(self.mazes.distances[0]), int(self.mazes.lengths[0])
        self.spaces: tuple[gym.spaces.Space[Any], gym.spaces.Space[Any]] = (
            gym.spaces.MultiDiscrete([1, self.mazes.cells]),
            gym.spaces.Discrete(5),
        )
        self._begun: dict[int, MazeSet] = {}

    def pairs(self) -> Pairs:
        """What the demonstrator saw, [T, 2], and did, [T]."""
        cells = self.mazes.paths[0][:-1]
        return np.stack([np.zeros_like(cells), cells], 1), self.mazes.actions[0].astype(np.int64)

    def _training(self, curriculum: Curriculum, config: TrainConfig, **start: Any) -> Training:
        envs = MazeVector(ENVS, self.mazes, curriculum=curriculum, time_limit="fresh")
        return Training(None, [], curriculum, config, envs=envs, **start)

    def from_start(self, act: Act, *, episodes: int, seed: int) -> Evaluation:
        """Episodes from S."""
        if episodes not in self._begun:
            self._begun[episodes] = self.mazes.select(np.zeros(episodes, np.int64))
        return self._play(self._begun[episodes], act)

    def from_beside(self, act: Act) -> Evaluation:
        """From every cell near the demonstration, but off it."""
        return self._play(self._beside, act)

    def walked(self, act: Act) -> list[dict[str, Any]]:
        """The board, the demonstration and the cells of one episode from S."""
        return drawn(self.mazes, play(self.mazes, act))

    @cached_property
    def _beside(self) -> MazeSet:
        return beside(self.mazes, NEAR)

    @staticmethod
    def _play(mazes: MazeSet, act: Act) -> Evaluation:
        """One episode in each; to the policy they are all the one maze it knows."""
        played = play(mazes, lambda places: act(places * np.array([0, 1], np.int32)))
        returns = played.lengths * mazes.step_reward + played.successes * mazes.goal_reward
        return Evaluation(played.successes, returns, played.lengths)


class RandomLeaves(World):
    """A binary tree in which every episode starts in a random leaf; one leaf was demonstrated."""

    starts = 64  # of 256 leaves, enough to measure on

    depth = 8

    def __init__(self) -> None:
        self.shortest = self.length = self.depth
        self.demo = tree.demonstration(self.make())
        self.plain: Any = self.make().unwrapped
        self.spaces: tuple[gym.spaces.Space[Any], gym.spaces.Space[Any]] = (
            self.plain.observation_space,
            self.plain.action_space,
        )

    def make(self) -> gym.Env[Any, Any]:
        """The plain env."""
        return gym.make("Backplay/Tree-v0", depth=self.depth, disable_env_checker=True)

    def pairs(self) -> Pairs:
        """What the demonstrator saw, [T], and did, [T]."""
        return np.array(self.demo.observations[:-1]), np.array(self.demo.actions)

    def _training(self, curriculum: Curriculum, config: TrainConfig, **start: Any) -> Training:
        fresh = replace(config, time_limit="fresh")
        return Training(self.make, [self.demo], curriculum, fresh, **start)

    def from_start(self, act: Act, *, episodes: int, seed: int) -> Evaluation:
        """Episodes from random leaves."""
        leaves = np.random.default_rng(seed).integers(2**self.depth, size=episodes)
        return self._climb(self.plain.first_leaf + leaves, act)

    def from_beside(self, act: Act) -> Evaluation:
        """From every node near the demonstration, but off it and below the root's own child."""
        path = set(self.pairs()[0].tolist())
        near = set(path)
        for _ in range(NEAR):
            near |= {2 * n + side for n in near for side in (1, 2) if n < self.plain.first_leaf}
        return self._climb(np.array(sorted(near - path)), act)

    def _climb(self, nodes: NDArray[Any], act: Act) -> Evaluation:
        """One episode from each node, all at once, by the rules of `Tree`."""
        plain, lengths = self.plain, np.zeros(len(nodes), np.int64)
        for _ in range(plain.max_steps):
            going = np.flatnonzero(nodes)
            if not len(going):
                break
            here = nodes[going]
            actions = act(here)
            down = np.where(here < plain.first_leaf, 2 * here + actions, here)
            nodes[going] = np.where(actions == tree.UP, (here - 1) // 2, down)
            lengths[going] += 1
        arrived = nodes == 0
        returns = lengths * plain.step_reward + arrived * plain.goal_reward
        return Evaluation(arrived, returns, lengths)


TASKS: dict[str, Callable[[], World]] = {
    **{name: partial(GridWorld, name) for name in WORLDS},
    "tree": RandomLeaves,
}
"""What makes each world."""
