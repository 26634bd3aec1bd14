"""The tasks of grid_worlds.py: the paper's three grid worlds and its binary tree.

Each says how to train in it, what was demonstrated, and how well somebody plays from given places.
"""

from functools import cache, cached_property, partial
from typing import Any

import gymnasium as gym
import numpy as np
import torch

import backplay as bp
from backplay.envs import tree
from backplay.envs.maze import MazeSet, MazeVector, play
from backplay.envs.maze.worlds import WORLDS, beside, world
from backplay.evaluate import Act, Evaluation
from backplay.learners import PPOConfig
from backplay.train import TrainConfig, Training

PPO = PPOConfig(num_steps=32, learning_rate=3e-2, final_learning_rate=0.1)
ENVS = 32
BATCH = ENVS * PPO.num_steps
EVALUATIONS = 40
NEAR = 2  # steps from the demonstration that count as beside it


class Table(torch.nn.Module):
    """Logits and a value for each place: what is done in one says nothing about another.

    The values have a part in common, unless told otherwise. Without it a place not yet seen, at 0,
    looks better than any where steps were paid for, and that alone drives all regimes to explore.
    """

    common = True

    def __init__(self, places: int, actions: int, seed: int) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        # So that a greedy choice in a place not yet seen is any, not the first action.
        noise = 1e-3 * torch.randn(places, actions, generator=generator)
        self.logits = torch.nn.Parameter(noise)
        self.values = torch.nn.Parameter(torch.zeros(places, 1))
        self.in_common = torch.nn.Parameter(torch.zeros(1), requires_grad=self.common)

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Of nodes [n], or of (maze, cell) [n, 2] in a set of one maze."""
        place = observations.reshape(len(observations), -1)[:, -1].long()
        values = self.values.index_select(0, place).squeeze(1)
        return self.logits.index_select(0, place), values + self.in_common


def network(space: Any, action_space: Any, *, seed: int) -> torch.nn.Module:
    """A table for the places of a space."""
    places = space.nvec[-1] if isinstance(space, gym.spaces.MultiDiscrete) else space.n
    return Table(int(places), int(action_space.n), seed)


class GridWorld:
    """A maze in which every episode starts at S."""

    starts = 1  # different ones

    def __init__(self, which: str | MazeSet) -> None:
        """One of the paper's worlds by its name, or any set of one maze."""
        self.mazes = world(which) if isinstance(which, str) else which
        self.shortest, self.length = int(self.mazes.distances[0]), int(self.mazes.lengths[0])
        self.spaces = gym.spaces.MultiDiscrete([1, self.mazes.cells]), gym.spaces.Discrete(5)

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """What the demonstrator saw, [T, 2], and did, [T]."""
        cells = self.mazes.paths[0][:-1]
        return np.stack([np.zeros_like(cells), cells], 1), self.mazes.actions[0].astype(np.int64)

    def training(self, curriculum: bp.Curriculum, frames: int, seed: int, **start: Any) -> Training:
        envs = MazeVector(ENVS, self.mazes, curriculum=curriculum, time_limit="fresh")
        return Training(
            None, [], curriculum, _config(frames, seed),
            envs=envs, evaluator=self.from_start, network=network, **start,
        )  # fmt: skip

    def from_start(self, act: Act, *, episodes: int, seed: int) -> Evaluation:
        return self._play(self._begun(episodes), act)

    def from_beside(self, act: Act) -> Evaluation:
        """From every cell near the demonstration, but off it."""
        return self._play(self._beside, act)

    @cache  # noqa: B019  # a handful of sets, and the tasks live as long as the program
    def _begun(self, episodes: int) -> MazeSet:
        return self.mazes.select(np.zeros(episodes, np.int64))

    @cached_property
    def _beside(self) -> MazeSet:
        return beside(self.mazes, NEAR)

    @staticmethod
    def _play(mazes: MazeSet, act: Act) -> Evaluation:
        """One episode in each; to the policy they are all the one maze it knows."""
        played = play(mazes, lambda places: act(places * np.array([0, 1], np.int32)))
        returns = played.lengths * mazes.step_reward + played.successes * mazes.goal_reward
        return Evaluation(played.successes, returns, played.lengths)


class RandomLeaves:
    """A binary tree in which every episode starts in a random leaf; one leaf was demonstrated."""

    starts = 64  # of 256 leaves, enough to measure on

    depth = 8

    def __init__(self) -> None:
        self.shortest = self.length = self.depth
        self.demo = tree.demonstration(self.make())
        self.plain: Any = self.make().unwrapped
        self.spaces = self.plain.observation_space, self.plain.action_space

    def make(self) -> gym.Env:
        return gym.make("Backplay/Tree-v0", depth=self.depth, disable_env_checker=True)

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """What the demonstrator saw, [T], and did, [T]."""
        return np.array(self.demo.observations[:-1]), np.array(self.demo.actions)

    def training(self, curriculum: bp.Curriculum, frames: int, seed: int, **start: Any) -> Training:
        return Training(
            self.make, [self.demo], curriculum, _config(frames, seed),
            evaluator=self.from_start, network=network, **start,
        )  # fmt: skip

    def from_start(self, act: Act, *, episodes: int, seed: int) -> Evaluation:
        leaves = np.random.default_rng(seed).integers(2**self.depth, size=episodes)
        return self._climb(self.plain.first_leaf + leaves, act)

    def from_beside(self, act: Act) -> Evaluation:
        """From every node near the demonstration, but off it and below the root's own child."""
        path = set(self.pairs()[0].tolist())
        near = set(path)
        for _ in range(NEAR):
            near |= {2 * n + side for n in near for side in (1, 2) if n < self.plain.first_leaf}
        return self._climb(np.array(sorted(near - path)), act)

    def _climb(self, nodes: np.ndarray, act: Act) -> Evaluation:
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


def _config(frames: int, seed: int) -> TrainConfig:
    return TrainConfig(
        frames=frames, num_envs=ENVS, seed=seed, evaluate_every=max(1, frames // EVALUATIONS),
        time_limit="fresh", ppo=PPO,
    )  # fmt: skip


TASKS = {**{name: partial(GridWorld, name) for name in WORLDS}, "tree": RandomLeaves}
FRAMES = dict.fromkeys(WORLDS, 200_000) | {"tree": 100_000}
