"""Pictures and texts of mazes."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_mazes import by_hand

from backplay import BackplayError
from backplay.envs.maze import Maze, picture
from backplay.envs.maze import draw as d

MAZES = by_hand()
WALLS = MAZES.walls[0]


def middle(image: np.ndarray, cell: int, scale: int = 16) -> tuple[int, ...]:
    y, x = divmod(cell, 3)
    return tuple(image[y * scale + scale // 2, x * scale + scale // 2].tolist())


def test_walls_are_dark_and_marks_are_where_they_belong() -> None:
    image = picture(WALLS, 0, 2, agent=4)
    assert image.shape == (32, 48, 3)
    assert image.dtype == np.uint8
    assert (image[:16, 16:32] == d.WALL).all()
    assert middle(image, 4) == d.AGENT
    assert middle(image, 3) == middle(image, 5) == d.GROUND
    assert (image[:16, :16] == d.START).all(2).any()
    assert (image[:16, 32:] == d.GOAL).all(2).any()
    assert not (image[16:, :16] == d.AGENT).all(2).any()


def test_both_paths_can_be_seen_where_they_run_together() -> None:
    image = picture(WALLS, 0, 2, demonstration=MAZES.paths[0], path=[0, 3, 4], scale=32)
    for cell in (3, 4):
        assert middle(image, cell, 32) == d.PATH
    assert middle(image, 5, 32) == d.DEMONSTRATION
    between = image[32:, 30:34]  # the edge of cells 3 and 4: crossed by both lines
    assert (between == d.PATH).all(2).any()
    assert (between == d.DEMONSTRATION).all(2).any()
    assert (image[:32, 32:64] == d.WALL).all()  # the line goes around the wall


def test_a_path_of_one_cell_and_other_scales() -> None:
    assert picture(WALLS, 0, 2, path=[3], scale=4).shape == (8, 12, 3)
    with pytest.raises(BackplayError, match="scale"):
        picture(WALLS, 0, 2, scale=1)


def test_the_text_is_the_maze() -> None:
    plain = d.text(WALLS, 0, 2, agent=4, path=[0, 3, 4], colour=False)
    assert plain == "S ██G \n· @   \n"
    coloured = d.text(WALLS, 0, 2, agent=0)
    assert "\x1b[" in coloured
    assert "S " not in coloured


@pytest.mark.parametrize(("mode", "kind"), [("rgb_array", np.ndarray), ("ansi", str)])
def test_the_env_renders(mode: str, kind: type) -> None:
    env = Maze(MAZES, render_mode=mode)
    env.reset(seed=0)
    assert isinstance(env.render(), kind)
    silent = Maze(MAZES)
    silent.reset(seed=0)
    with pytest.raises(BackplayError, match="render_mode"):
        silent.render()
