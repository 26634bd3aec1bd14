"""Is `backplay advise` right? Its answer for eleven tasks, beside what training takes.

    python examples/advise_check.py --out results/advise.jsonl
    python examples/advise_check.py --tasks maze-8 tree --seeds 1

For each task: the advice (which regime should be fastest, from a few seconds of random play), and
real runs under Standard, Uniform and Backplay (`Backplay.stretch` over the budget). A run's number
is the frames at the first evaluation with 90 % success from the true start, of twenty episodes or
more with sampled actions; a regime's is the median over seeds, none if most runs never get there.
The advice is right if it names the regime with the fewest frames, or one within a quarter of it.
Finished runs are kept in the file, so an interrupted check goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from tasks import FORWARD, TOGGLE, Person, demonstrate_mountaincar, minigrid, mountaincar

import backplay as bp
from backplay.advise import advise
from backplay.envs.maze import generate
from backplay.learners import PPOConfig
from backplay.paper.grid_worlds.worlds import GridWorld, RandomLeaves
from backplay.train import TrainConfig, Training

REACHED = 0.9
NEAR = 1.25
REGIMES: dict[str, Callable[[int, list[int]], bp.Curriculum]] = {
    "Standard": lambda frames, lengths: bp.Standard(),
    "Uniform": lambda frames, lengths: bp.Uniform(),
    "Backplay": lambda frames, lengths: bp.Backplay.stretch(frames, lengths),
}
EVALUATIONS = 50
LIKE_SB3 = PPOConfig(  # the defaults of Stable-Baselines3, with which MountainCar is learned
    num_steps=2048, minibatch_size=64, passes=10, learning_rate=3e-4, entropy_coefficient=0.0,
    normalise_advantages="minibatch",
)  # fmt: skip


@dataclass(frozen=True)
class Task:
    """What to look at, what to train in, and for how long."""

    frames: int
    look: Callable[[], tuple[Callable[[], gym.Env], bp.Demonstration]]
    train: Callable[[str, int, int], Training]


def one_maze(size: int, walls: int, seed: int) -> GridWorld:
    """A random maze of a size, as a grid world."""
    least = int(1.4 * size)
    made = generate(mazes=1, held_out=0, size=size, walls=walls, min_length=least, seed=seed)
    return GridWorld(made.training)


def of_grid(make: Callable[[], GridWorld], frames: int) -> Task:
    def look() -> tuple[Callable[[], gym.Env], bp.Demonstration]:
        mazes = make().mazes

        def env() -> gym.Env:
            return gym.make("Backplay/Maze-v0", mazes=mazes, maze=0, disable_env_checker=True)

        return env, bp.record(env(), mazes.actions[0].tolist(), seed=0)

    def train(regime: str, budget: int, seed: int) -> Training:
        task = make()
        return task.training(REGIMES[regime](budget, [task.length]), budget, seed)

    return Task(frames, look, train)


def of_tree(frames: int) -> Task:
    def train(regime: str, budget: int, seed: int) -> Training:
        task = RandomLeaves()
        return task.training(REGIMES[regime](budget, [task.length]), budget, seed)

    def look() -> tuple[Callable[[], gym.Env], bp.Demonstration]:
        task = RandomLeaves()
        return task.make, task.demo

    return Task(frames, look, train)


def of_env(
    make: Callable[[], gym.Env],
    demonstrate: Callable[[], bp.Demonstration],
    frames: int,
    ppo: PPOConfig,
) -> Task:
    def train(regime: str, budget: int, seed: int) -> Training:
        demo = demonstrate()
        config = TrainConfig(
            frames=budget, seed=seed, evaluate_every=budget // EVALUATIONS, final_episodes=20,
            ppo=ppo,
        )  # fmt: skip
        return Training(make, [demo], REGIMES[regime](budget, [len(demo)]), config)

    return Task(frames, lambda: (make, demonstrate()), train)


def through_a_door(name: str, layout: int) -> bp.Demonstration:
    """Fetches the key if there is one, opens the door, goes to the goal."""
    env = minigrid(name, layout)
    env.reset()
    person = Person(env)
    if "DoorKey" in name:
        person.fetch("key")
        person.go_to("door", is_locked=True)
        person.do(TOGGLE)
    person.go_to("goal")
    person.do(FORWARD)
    return bp.record(minigrid(name, layout), person.actions, seed=0)


def of_minigrid(name: str, layout: int, frames: int) -> Task:
    return of_env(
        partial(minigrid, name, layout), partial(through_a_door, name, layout), frames,
        PPOConfig(num_steps=128, minibatch_size=256),
    )  # fmt: skip


TASKS: dict[str, Task] = {
    "maze-8": of_grid(partial(one_maze, 8, 12, 11), 60_000),
    "maze-12": of_grid(partial(one_maze, 12, 28, 12), 100_000),
    "maze-16": of_grid(partial(one_maze, 16, 50, 13), 200_000),
    "maze-24": of_grid(partial(one_maze, 24, 120, 14), 400_000),
    "open": of_grid(partial(GridWorld, "open"), 200_000),
    "bottlenecks": of_grid(partial(GridWorld, "bottlenecks"), 200_000),
    "basin": of_grid(partial(GridWorld, "basin"), 200_000),
    "tree": of_tree(100_000),
    "mountaincar": of_env(mountaincar, demonstrate_mountaincar, 300_000, LIKE_SB3),
    "fourrooms": of_minigrid("MiniGrid-FourRooms-v0", 3, 100_000),
    "doorkey": of_minigrid("MiniGrid-DoorKey-6x6-v0", 3, 100_000),
}


def frames_needed(training: Training) -> int | None:
    """Frames at the first evaluation with success; None if there is none."""
    try:
        for progress in training.run():
            found = progress.evaluation
            if found is not None and found.success >= REACHED:
                return progress.frames
        return None
    finally:
        training.close()


def fastest(needed: dict[str, list[int | None]]) -> tuple[dict[str, float], list[str]]:
    """The median of each regime, and the regimes that are as good as the best."""
    medians = {
        regime: statistics.median(float("inf") if one is None else one for one in found)
        for regime, found in needed.items()
    }
    best = min(medians.values())
    near = [name for name, one in medians.items() if one <= NEAR * best and one < float("inf")]
    return medians, near


def check(
    name: str, seeds: int, seconds: float, out: Path, known: dict[str, Any]
) -> dict[str, Any]:
    """One task: the advice, the runs, the verdict."""
    task = TASKS[name]

    def keep(key: str, make: Callable[[], Any]) -> Any:
        if key not in known:
            known[key] = make()
            with out.open("a") as file:
                file.write(json.dumps({"key": key, "value": known[key]}) + "\n")
        return known[key]

    def advised() -> dict[str, Any]:
        make, demo = task.look()
        said = advise(make, demo, seed=0, seconds=seconds)
        frames = {regime: one.log10_frames for regime, one in said.predictions.items()}
        return {"fastest": said.fastest, "sure": said.sure, "log10_frames": frames}

    said = keep(f"{name} advice", advised)
    needed: dict[str, list[int | None]] = {}
    for regime in REGIMES:
        for seed in range(seeds):
            key = f"{name} {task.frames} {regime} {seed}"
            found = keep(key, lambda r=regime, s=seed: frames_needed(task.train(r, task.frames, s)))
            needed.setdefault(regime, []).append(found)
            print(f"  {key}: {'never' if found is None else f'{found:,}'}", flush=True)
    medians, near = fastest(needed)
    right = said["fastest"] in near if near else None
    row = {"task": name, "said": said["fastest"], "sure": said["sure"], "was": near, "right": right}
    shown = ", ".join(f"{k} {'never' if np.isinf(v) else f'{v:,.0f}'}" for k, v in medians.items())
    print(f"{name}: said {said['fastest']} ({said['sure']:.0%} sure); {shown}: {right}", flush=True)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30.0, help="for each advice")
    parser.add_argument("--out", type=Path, default=Path("advise.jsonl"))
    config = parser.parse_args()
    torch.set_num_threads(1)
    known: dict[str, Any] = {}
    if config.out.exists():
        for line in config.out.read_text().splitlines():
            entry = json.loads(line)
            known[entry["key"]] = entry["value"]
    rows = [check(name, config.seeds, config.seconds, config.out, known) for name in config.tasks]
    judged = [row for row in rows if row["right"] is not None]
    print(
        f"right on {sum(row['right'] for row in judged)} of {len(judged)} tasks that were learned"
    )
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
