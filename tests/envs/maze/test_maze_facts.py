"""What an agent sees from where it stands: by hand, and the same on all eight mirror images."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from backplay.envs.maze import generate_set
from backplay.envs.maze.facts import FAR, find_facts, most_facts, number_of_facts, turned_actions
from backplay.envs.maze.rules import DOWN, LEFT, PASS, RIGHT, UP, offsets

SIGHT = 2
SIDE = 2 * SIGHT + 1
EDGES = SIDE**2
AHEAD = EDGES + 4 * (SIGHT + 1)
NEAR = AHEAD + 2 * FAR


def seen(walls: np.ndarray, goal: int, cell: int, sight: int = SIGHT) -> tuple[list[int], int]:
    """The facts of one state, and how the board was turned."""
    facts, turns = np.full((1, most_facts(sight)), 99, np.int32), np.zeros(1, np.int64)
    height, width = walls.shape
    find_facts(
        walls.reshape(1, -1), np.array([goal]), height, width, sight, np.array([[0, cell]]), facts,
        turns,
    )  # fmt: skip
    row = facts[0].tolist()
    return row[: row.index(-1)] if -1 in row else row, int(turns[0])


def test_facts_by_hand() -> None:
    walls = np.zeros((4, 6), np.bool_)
    walls[1, 3] = walls[3, 5] = True  # the second is out of sight
    found, turn = seen(walls, goal=2 * 6 + 4, cell=6 + 1)  # from (1, 1) to (2, 4)
    assert turn == 0
    assert sorted(found) == sorted(
        [
            SIGHT * SIDE + SIGHT + 2,  # a wall two cells ahead
            EDGES + 1, EDGES + 3 + 2, EDGES + 6 + 1, EDGES + 9 + 2,  # above, below, behind, ahead
            AHEAD + 3, AHEAD + FAR + 1,  # the goal: three ahead, one aside
        ]
    )  # fmt: skip
    near, _ = seen(walls, goal=2 * 6 + 2, cell=6 + 1)
    assert NEAR + 1 * (SIGHT + 1) + 1 in near


@pytest.mark.parametrize("mirror", range(1, 8))
def test_mirror_images_have_the_same_facts_and_actions_turn_with_them(mirror: int) -> None:
    mazes = generate_set(6, 3, size=9, walls=20, min_length=8)
    changed = False
    for walls, start, goal in zip(mazes.walls, mazes.starts, mazes.goals, strict=True):
        cells = np.arange(walls.size).reshape(walls.shape)
        images = []
        for board in (walls, cells):
            image = board[::-1] if mirror & 1 else board
            image = image[:, ::-1] if mirror & 2 else image
            images.append(np.ascontiguousarray(image.T if mirror & 4 else image))
        image, where = images
        there = {int(cell): i for i, cell in enumerate(where.ravel())}
        plain, turn = seen(walls, int(goal), int(start), 4)
        mirrored, other = seen(image, there[int(goal)], there[int(start)], 4)
        down = abs(int(goal) // 9 - int(start) // 9)
        right = abs(int(goal) % 9 - int(start) % 9)
        if down == right or not down or not right:
            continue  # as far ahead as aside: either may be ahead
        assert sorted(plain) == sorted(mirrored)
        changed |= turn != other
        for action, move in enumerate(offsets(9)):
            # The action that leads to the image of where this one leads is the same when turned.
            same = [
                a
                for a, step in enumerate(offsets(9))
                if there.get(int(start) + int(move)) == there[int(start)] + int(step)
            ]
            if same and int(start) % 9 not in (0, 8):
                turned = turned_actions()
                assert turned[turn, action] == turned[other, same[0]]
    assert changed


def test_turned_actions_lead_ahead() -> None:
    turned = turned_actions()
    assert turned[0].tolist() == [PASS, UP, DOWN, LEFT, RIGHT]
    assert turned[2].tolist() == [PASS, UP, DOWN, RIGHT, LEFT]  # the goal was to the left
    assert turned[4].tolist() == [PASS, LEFT, RIGHT, UP, DOWN]  # the goal was farther down
    assert all(sorted(row) == list(range(5)) for row in turned.tolist())


def test_facts_are_within_their_number() -> None:
    mazes = generate_set(4, 0)
    places = np.array([(m, c) for m in range(4) for c in np.flatnonzero(~mazes.walls[m].ravel())])
    facts = np.full((len(places), most_facts(9)), -1, np.int32)
    turns = np.zeros(len(places), np.int64)
    find_facts(mazes.walls.reshape(4, -1), mazes.goals, 24, 24, 9, places, facts, turns)
    assert facts.max() < number_of_facts(9)
    assert set(turns.tolist()) == set(range(8))
    assert torch.from_numpy(facts).min() == -1
