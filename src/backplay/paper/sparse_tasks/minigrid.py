"""MiniGrid's tasks, on one layout each: fetch keys, open doors, reach what lies behind them.

The agent sees 7 x 7 cells; reward comes at the goal alone. Demonstrations are planned on the whole
grid.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from backplay.demos import Demonstration
from backplay.demos.record import record
from backplay.paper.sparse_tasks.grid_person import (
    FORWARD,
    PICK_UP,
    RIGHT,
    TOGGLE,
    OneLayout,
    Person,
    View,
    a,
)
from backplay.paper.sparse_tasks.task import Task
from backplay.restore.rollout import AnyEnv
from backplay.train.environments import make_env


def minigrid(name: str, layout: int, *, render_mode: str | None = None) -> AnyEnv:
    """An env of MiniGrid on the layout of one seed, seen as one vector."""
    made = make_env(name, {"render_mode": render_mode} if render_mode else None)
    return View(OneLayout(made, layout))


def corridor(person: Person) -> None:
    """KeyCorridor: fetch the key, open the locked door, drop the key, fetch the ball."""
    person.fetch(a("key"))
    person.open(a("door", is_locked=True))
    person.fetch(a("ball"))


def obstructed(person: Person, *, door: tuple[int, int], blocked_by: tuple[int, int]) -> None:
    """ObstructedMaze: move the ball before a door, take its key from a box, fetch the blue ball."""
    locked, obstacle = person.at(*door), person.at(*blocked_by)
    person.fetch(lambda thing: thing is obstacle)
    person.do(RIGHT)  # or it would be put where it was
    person.put_down()
    person.go_to(lambda thing: thing.type == "box" and thing.contains.color == locked.color)
    person.do(TOGGLE)  # the key lies where the box was
    person.do(PICK_UP)
    person.open(lambda thing: thing is locked)
    person.fetch(a("ball", color="blue"))


def door_key(person: Person) -> None:
    """DoorKey: fetch the key, open the door, go to the goal."""
    person.fetch(a("key"))
    person.go_to(a("door", is_locked=True))
    person.do(TOGGLE)
    four_rooms(person)


def four_rooms(person: Person) -> None:
    """FourRooms: go to the goal."""
    person.go_to(a("goal"))
    person.do(FORWARD)


def demonstration(make: Callable[[], AnyEnv], play: Callable[[Person], None]) -> Demonstration:
    """What somebody does who sees everything."""
    person = Person(make())
    play(person)
    return record(make(), person.actions, seed=0)


def task(name: str, layout: int, play: Callable[[Person], None], **more: Any) -> Task:
    """A task of MiniGrid by its id."""
    make = partial(minigrid, name, layout)
    return Task(title=name, make=make, demonstrate=partial(demonstration, make, play), **more)


# The same settings for both trainers.
_BEFORE = {"learning_rate": 3e-4, "entropy_coefficient": 0.01, "value_lambda": None}
_OURS = {"num_steps": 256, "minibatch_size": 128, "passes": 6, **_BEFORE}
_SB3 = {"n_steps": 256, "batch_size": 128, "n_epochs": 6, "ent_coef": 0.01}
_QUICK = {"num_steps": 128, "passes": 4, **_BEFORE}

MINIGRID = {
    "keycorridor": task(
        "MiniGrid-KeyCorridorS6R3-v0", 1, corridor, frames=400_000, ours=_OURS, sb3=_SB3,
        patience=4.0, episodes=100, on_the_way=10, seconds=500.0,
    ),
    "obstructed": task(
        "MiniGrid-ObstructedMaze-Full-v1", 0,
        partial(obstructed, door=(10, 14), blocked_by=(9, 14)),
        frames=800_000, ours=_OURS, sb3=_SB3, patience=4.0,
        episodes=25, on_the_way=5,  # of 3,600 steps where it fails
        seconds=500.0,
    ),
    "fourrooms": task(
        "MiniGrid-FourRooms-v0", 3, four_rooms, frames=100_000, ours=_QUICK, seconds=300.0,
    ),
    "doorkey": task(
        "MiniGrid-DoorKey-6x6-v0", 3, door_key, frames=100_000, ours=_QUICK, seconds=300.0,
    ),
}  # fmt: skip
"""By name."""
