"""Mazes in pictures: the states of their demonstrations, and walks of a network from any of them.

Comes in: mazes, and a network. Goes out: pictures, walks as they go on. Does not know: training.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from backplay.envs.maze import draw
from backplay.envs.maze.evaluate import walk
from backplay.envs.maze.sets import MazeSet
from backplay.paper.maze.regimes import AnyMazeNetwork
from backplay.train.scenes import Moment, Scenes

SCALE = 16  # pixels along a cell


class MazeScenes(Scenes):
    """Mazes and a network that walks in them."""

    def __init__(self, mazes: MazeSet, network: AnyMazeNetwork) -> None:
        self.mazes, self.network = mazes, network

    @property
    def lengths(self) -> list[int]:
        """The steps of each demonstration."""
        return [int(length) for length in self.mazes.lengths]

    def picture(self, demo: int, step: int) -> NDArray[np.uint8]:
        """The agent on the demonstration, which is drawn pale."""
        return self._draw(demo, self.mazes.paths[demo][step : step + 1])

    def play(self, demo: int, step: int, *, greedy: bool, seed: int) -> Iterator[Moment]:
        """A walk of the network from that cell, drawn as it grows."""
        generator = torch.Generator().manual_seed(seed)

        def act(places: NDArray[np.int32]) -> NDArray[np.int64]:
            with torch.inference_mode():
                logits: torch.Tensor = self.network(torch.from_numpy(places))[0]
                if greedy:
                    return logits.argmax(-1).numpy()
                return torch.multinomial(logits.softmax(-1), 1, generator=generator)[:, 0].numpy()

        mazes = self.mazes
        begin = mazes.paths[demo][step : step + 1]
        trail = walk(mazes, np.array([demo]), begin, act)[0][0]
        self.network.forget()
        total = 0.0
        for at in range(len(trail)):
            if at:
                arrived = trail[at] == mazes.goals[demo]
                total += mazes.step_reward + mazes.goal_reward * float(arrived)
            over = at == len(trail) - 1
            success = bool(trail[at] == mazes.goals[demo]) if over else None
            yield Moment(partial(self._draw, demo, trail[: at + 1]), total, success)

    def _draw(self, demo: int, path: NDArray[np.int32]) -> NDArray[np.uint8]:
        mazes = self.mazes
        return draw.picture(
            mazes.walls[demo], int(mazes.starts[demo]), int(mazes.goals[demo]),
            agent=int(path[-1]), demonstration=mazes.paths[demo], path=path, scale=SCALE,
        )  # fmt: skip
