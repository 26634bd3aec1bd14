"""Ten tasks of different kinds on which nothing of the library was chosen, nor is to be.

Each file is what a user brings: a class, and somebody who plays it. A picture of boxes to be
pushed, a Dict with things to be made from things, a hanging load moved at a cost, rivers with
ferries that come by chance, an errand of 348 steps, a tower of Hanoi, ghosts that walk at random,
and three envs that everybody knows. A reward, or the end of all costs, at the goal alone.

Run: python benchmarks/choose_curriculum.py rows.jsonl 0,1,2 craft,ferry,crane,depot,sokoban \
        "default=Frontier()" "uniform=Uniform()"
"""

from functools import partial

from learner_tasks import Small

import backplay as bp
from held_out import classics, hanoi
from held_out.craft import Craft
from held_out.craft import player as makes
from held_out.crane import Crane
from held_out.crane import player as lifts
from held_out.depot import Depot
from held_out.depot import player as fetches
from held_out.ferry import Ferry
from held_out.ferry import player as crosses
from held_out.ghosts import Ghosts
from held_out.ghosts import player as fetches_coin
from held_out.sokoban import WAY, Sokoban


def _task(make, player, frames: int, kind: str, **more) -> Small:
    return Small(make, partial(_played, make, player), frames, kind, **more)


def _played(make, player) -> bp.Demonstration:
    return bp.record(make(), player, seed=1)


def _taxi() -> bp.Demonstration:
    return _played(classics.taxi, classics.taxi_way())


HELD_OUT = {
    "sokoban": _task(Sokoban, WAY, 200_000, "picture, traps, sparse"),
    "craft": _task(Craft, makes, 500_000, "Dict, things made from things, sparse"),
    "crane": _task(Crane, lifts, 300_000, "unbounded vector, continuous, costs alone"),
    "ferry": _task(Ferry, crosses, 200_000, "numbers, chance, death, sparse", best=0.85),
    "hanoi": _task(hanoi.Hanoi, hanoi.WAY, 300_000, "several discrete numbers, sparse"),
    "ghosts": Small(
        Ghosts,
        partial(bp.record, Ghosts(), fetches_coin, seed=0),
        300_000,
        "numbers, chance, death, sparse",
    ),
    "taxi": Small(classics.taxi, _taxi, 300_000, "one number, random tasks, sparse"),
    "cliff": _task(classics.cliff, classics.CLIFF_WAY, 150_000, "one number, costs alone"),
    "lander-sparse": _task(classics.lander, classics.land, 400_000, "vector, sparse, 200 steps"),
    "depot": _task(Depot, fetches, 1_000_000, "raw coordinates, 348 steps, sparse"),
}
"""`best` of the ferry is the player's own success in 300 episodes."""
