"""Five mazes, and a curriculum of walks in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import backplay as bp
from backplay.envs.maze import Maze, generate
from backplay.records import Start, Walk

LIBRARY = generate(mazes=5, held_out=1, extra=5, seed=0)
MAZES = LIBRARY.training
N = 24


@dataclass(frozen=True)
class Walks(bp.Curriculum):
    """Starts anywhere in walks; a step may lie beyond a walk's last state."""

    walks: tuple[Walk, ...] = ()

    def weights(self, demo: int, length: int) -> np.ndarray:
        raise AssertionError("starts are drawn by sample")

    def update(self, episodes: Any, frames: int) -> Walks:
        return self

    def sample(self, lengths: Any, n: int, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        chosen = rng.integers(len(self.walks), size=n)
        ids = np.array([walk.demo for walk in self.walks])
        return ids[chosen], rng.integers(60, size=n)


def chosen(steps: int, n: int = N, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(5, size=(steps, n))


def place_of(start: Start) -> tuple[int, int, int]:
    return start.demo, int(MAZES.paths[start.demo][start.step]), start.step


def begin(env: Maze, maze: int, cell: int, clock: int) -> None:
    env.reset(options={"maze": maze})
    env.set_state({**env.get_state(), "cell": cell, "step_count": clock})
