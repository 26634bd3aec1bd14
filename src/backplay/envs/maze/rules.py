"""The rules of the game on flat boards: what an action does in a cell, and to many mazes at once.

Comes in: walls, cells (y * width + x) and actions. Goes out: where they lead. A board is known by
its exits: for each cell one byte in which bit `action` says that the action moves the agent; then
the move is to add the action's offset. Does not know: sets of mazes, starts or demonstrations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from backplay.envs.kernels import kernel

PASS, UP, DOWN, LEFT, RIGHT = range(5)
ACTIONS = 5
NAMES = ("pass", "up", "down", "left", "right")


def offsets(width: int) -> NDArray[np.int32]:
    """What each action adds to the cell where it is not blocked, [ACTIONS]."""
    return np.array([0, -width, width, -1, 1], np.int32)


@kernel
def find_exits(walls, height, width, exits):  # type: ignore[no-untyped-def]
    """Fills exits [cells] for the walls [cells] of one board. A wall has none."""
    cell = 0
    for y in range(height):
        for x in range(width):
            found = 0
            if not walls[cell]:
                if y > 0 and not walls[cell - width]:
                    found |= 1 << UP
                if y < height - 1 and not walls[cell + width]:
                    found |= 1 << DOWN
                if x > 0 and not walls[cell - 1]:
                    found |= 1 << LEFT
                if x < width - 1 and not walls[cell + 1]:
                    found |= 1 << RIGHT
            exits[cell] = found
            cell += 1


@kernel
def find_all_exits(walls, height, width, exits):  # type: ignore[no-untyped-def]
    """`find_exits` for walls [n, cells]."""
    for i in range(walls.shape[0]):
        find_exits(walls[i], height, width, exits[i])


@kernel
def after(exits, offsets, cell, action):  # type: ignore[no-untyped-def]
    """The cell to which `action` leads on one board."""
    if (exits[cell] >> action) & 1:
        return cell + offsets[action]
    return cell


@kernel
def follow(exits, offsets, start, actions, cells):  # type: ignore[no-untyped-def]
    """Fills cells [T + 1] with the way that actions [T] lead from `start`."""
    cell = start
    cells[0] = cell
    for t in range(actions.shape[0]):
        cell = after(exits, offsets, cell, actions[t])
        cells[t + 1] = cell


@kernel
def wander(exits, offsets, start, goal, left, actions, cells, since):  # type: ignore[no-untyped-def]
    """As `follow`, but a step that would end an episode leads back to `start`.

    It ends at the goal, and `left` steps after it began or was led back. Fills since [T + 1] with
    the steps since then.
    """
    cell, steps = start, 0
    cells[0], since[0] = cell, steps
    for t in range(actions.shape[0]):
        cell = after(exits, offsets, cell, actions[t])
        steps += 1
        if cell == goal or steps >= left:
            cell, steps = start, 0
        cells[t + 1], since[t + 1] = cell, steps


@kernel
def are_actions(actions):  # type: ignore[no-untyped-def]
    """Whether all of actions [k] are 0 to 4."""
    fine = True
    for i in range(actions.shape[0]):
        fine &= (actions[i] >= 0) & (actions[i] < ACTIONS)
    return fine


@kernel
def step_all(  # type: ignore[no-untyped-def]
    actions, exits, offsets, goals, max_steps, step_reward, goal_reward,
    places, clocks, lengths, limits, returns, rewards, terminated, truncated, ended,
):  # fmt: skip
    """One step in all of places [k, 2] (maze, cell); how many episodes ended, named in `ended`.

    An episode is terminated at the goal, and truncated when its maze's clock or its own length
    comes to an end elsewhere.
    """
    count = 0
    for i in range(actions.shape[0]):
        maze, cell, action = places[i, 0], places[i, 1], actions[i]
        cell += offsets[action] * ((exits[maze, cell] >> action) & 1)
        places[i, 1] = cell
        clocks[i] += 1
        lengths[i] += 1
        arrived = cell == goals[maze]
        late = not arrived and (clocks[i] >= max_steps or lengths[i] >= limits[i])
        reward = goal_reward + step_reward if arrived else step_reward
        rewards[i] = reward
        returns[i] += reward
        terminated[i], truncated[i] = arrived, late
        ended[count] = i
        count += arrived or late
    return count
