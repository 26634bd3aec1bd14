"""Jobs in pictures: states of demonstrations, and what a policy does from each of them."""

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from backplay.envs.maze import draw
from backplay.envs.maze.generate import generate_set
from backplay.envs.pommerman.demonstrations import make_games
from backplay.envs.pommerman.draw import picture
from backplay.paper.maze.work import SCALE, MazeScenes
from backplay.paper.pommerman.scenes import PommermanScenes

MAZES = generate_set(2, 3, size=8, walls=12, min_length=6)


class Follower:
    """A network that goes the way of the demonstrations; off it, it does nothing."""

    def __call__(self, places: torch.Tensor) -> tuple[torch.Tensor, None]:
        logits = torch.full((len(places), 5), -40.0)
        for row, (maze, cell) in enumerate(places.tolist()):
            steps = np.flatnonzero(MAZES.paths[maze] == cell)
            logits[row, int(MAZES.actions[maze][steps[0]])] = 40.0
        return logits, None

    def forget(self) -> None: ...


@pytest.mark.parametrize("greedy", [True, False])
@pytest.mark.parametrize("demo", [0, 1])
def test_a_walk_from_any_step_of_a_maze(demo: int, greedy: bool) -> None:
    network: Any = Follower()
    scenes, path = MazeScenes(MAZES, network), MAZES.paths[demo]
    assert scenes.lengths == [len(one) - 1 for one in MAZES.paths]
    for step in (0, 2, len(path) - 2):
        left = len(path) - 1 - step
        moments = list(scenes.play(demo, step, greedy=greedy, seed=7))
        assert [moment.success for moment in moments] == [None] * left + [True]
        assert moments[-1].total == pytest.approx(1 - 0.03 * left)
        assert np.array_equal(moments[0].draw(), scenes.picture(demo, step))
        seen: NDArray[np.uint8] = draw.picture(
            MAZES.walls[demo], int(path[0]), int(MAZES.goals[demo]), agent=int(path[-1]),
            demonstration=path, path=path[step:], scale=SCALE,
        )  # fmt: skip
        assert np.array_equal(moments[-1].draw(), seen)


class Bomber:
    """A learner that lays a bomb and stays beside it."""

    def __init__(self) -> None:
        self.asked = 0

    def act(self, seen: Any, **_: Any) -> NDArray[np.int64]:
        self.asked += 1
        return np.full(len(seen), 5)


def test_a_game_from_any_step_of_a_map() -> None:
    library = make_games(1, held_out=0, agent="simple", seed=1)
    maps = [game.seen_by("winner") for game in library.training]
    bomber: Any = Bomber()
    scenes = PommermanScenes(maps, bomber, opponents="simple", simulations=1, observation="planes")
    assert scenes.lengths == [len(maps[0])]
    for step in (0, len(maps[0]) // 2):
        bomber.asked = 0
        moments = list(scenes.play(0, step, greedy=True, seed=7))
        assert bomber.asked == len(moments) - 1
        assert [moment.success for moment in moments[:-1]] == [None] * (len(moments) - 1)
        assert (moments[-1].success, moments[-1].total) == (False, -1.0)
        first = picture(maps[0].game.rows[step])
        assert np.array_equal(moments[0].draw(), first)
        assert np.array_equal(scenes.picture(0, step), first)
        again = list(scenes.play(0, step, greedy=True, seed=7))
        assert np.array_equal(again[-1].draw(), moments[-1].draw())
