"""Chooses between curricula on tasks of different kinds at once; a line of JSON for each run.

    python benchmarks/choose_curriculum.py rows.jsonl 100,101 maze,trap,car \
        "now=Frontier()" "long=Frontier();MEMORY=256" "strict=Frontier();ANYWHERE=0.0"
    python benchmarks/choose_curriculum.py rows.jsonl        # the table of what is there

What stands behind a semicolon are constants of the frontier's module. Runs that are in the file
are not made again. Mazes, seeds and some of the tasks are apart from those that results are
reported on; the tasks of `held_out` are to report on alone.
"""

import json
import sys
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
from candidates import Falls, Tried
from car import run as drive
from held_out import HELD_OUT
from learner_tasks import TASKS as LEARNERS
from learner_tasks import Small
from rounds import Rounds, watchman

import backplay as bp
from backplay import curricula
from backplay.curricula import frontier
from backplay.envs import slippery
from backplay.paper import regimes
from backplay.paper.grid_worlds.job import GridJob
from backplay.paper.maze.job import MazeJob
from backplay.paper.sparse_tasks import classic, minigrid
from backplay.paper.sparse_tasks.job import GymJob
from backplay.paper.sparse_tasks.tasks import TASKS
from backplay.train import TrainConfig, Training

LONG, SLIP = 14, 0.06  # of a bridge that nothing is reported on
ENOUGH = 0.9  # of what the best policy has


def mazes(size: int, frames: int, extra: int = 0):
    return lambda seed: MazeJob(
        regime="default", size=size, frames=frames, seed=seed, extra=extra, maze_seed=11 + seed,
        held_out=0, evaluations=20,
    )  # fmt: skip


def gym(task: str, frames: int, **more):
    return lambda seed: GymJob(
        task=task, regime="default", seed=seed, frames=frames,
        **{"evaluations": 15, "final_episodes": 100, **more},
    )  # fmt: skip


def world(name: str, frames: int):
    return lambda seed: GridJob(world=name, regime="default", seed=seed, frames=frames)


JOBS = {
    "open": world("open", 100_000),
    "tree": world("tree", 50_000),
    "bottlenecks": world("bottlenecks", 200_000),
    "bridge": gym("bridge", 80_000),
    "trap": gym("chain", 100_000),
    "grid-key": gym("doorkey", 60_000),
    "grid-rooms": gym("fourrooms", 60_000),
    "maze12": mazes(12, 300_000, extra=5),
    "maze": mazes(24, 1_024_000),
    "mountaincar-ours": gym("mountaincar", 300_000),
    "continuous": gym("mountaincar-continuous", 100_000),
    "corridor": gym("corridor", 120_000, trainer="sb3", final_episodes=20),
}
ROUNDS = Small(
    Rounds, lambda: bp.record(Rounds(), watchman, seed=0), 250_000, "raw coordinates, long, sparse"
)
SMALL = {**LEARNERS, **HELD_OUT, "rounds": ROUNDS}
BEST = {
    "bridge": slippery.best(LONG, SLIP),
    **{name: task.best for name, task in SMALL.items()},
}
BRIDGE = classic.task(
    classic.SLIPPERY, slippery.demonstration, frames=80_000, ours=classic._OURS, episodes=200,
)  # fmt: skip
CORRIDOR = replace(
    minigrid.task("MiniGrid-KeyCorridorS5R3-v0", 2, minigrid.corridor, frames=200_000),
    sb3=minigrid._SB3, on_the_way=2,
)  # fmt: skip


def trained(task: str, starts, seed: int) -> dict:
    """Success from the true start over frames, actions drawn."""
    bridge = replace(BRIDGE, make=lambda: BRIDGE.make(length=LONG, slip=SLIP))
    bridge = replace(bridge, demonstrate=lambda: slippery.demonstration(bridge.make()))
    named = {"default": lambda lengths, frames, seed: starts}
    tasks = {"bridge": bridge, "corridor": CORRIDOR}
    with mock.patch.dict(TASKS, tasks), mock.patch.dict(regimes.ALL, named):
        job = JOBS[task](seed)
        work = job.begin()
        curve, half = [], []
        for progress in work.training.run():
            if progress.evaluation is not None:
                found = work.line(progress)["evaluation"]
                success = found.get("sampled_success", found.get("success"))
                curve.append((progress.frames, round(float(success), 3)))
                half.append(far(work.training.curriculum))
        work.close()
    return {"curve": curve, "final": curve[-1][1], "starts_at_end": progress.starts, "way": half}


def small(task: Small, starts, seed: int) -> dict:
    """A task with no flag, as `backplay train` runs it."""
    config = TrainConfig(
        frames=task.frames, seed=seed, evaluate_every=task.frames // 15, evaluation_episodes=20,
        final_episodes=100, exact_resume=False, success=task.success,
    )  # fmt: skip
    training = Training(task.make, [task.demonstrate()], starts, config)
    found, half = [], []
    for progress in training.run():
        if progress.evaluation is not None:
            found.append((progress.frames, progress.evaluation.success))
            half.append(far(training.curriculum))
    training.close()
    said = training.curriculum.describe()
    return {"curve": found, "final": found[-1][1], "starts_at_end": said, "way": half}


def far(starts) -> int | None:
    """The most steps back from which half of the episodes succeed on the first demonstration."""
    known = isinstance(starts, curricula.Frontier)
    return frontier.half(starts.seen_of(0)) if known else None


def carried_out(task: str, starts, seed: int) -> dict:
    if task in SMALL:
        return small(SMALL[task], starts, seed)
    if task != "car":
        return trained(task, starts, seed)
    found = drive(starts, seed)
    curve = [(16_384 * (k + 1), x or 0.0) for k, x in enumerate(found["curve"])]
    return {"curve": curve, "final": found["sampled"], "greedy": found["greedy"]}


def table(rows: list[dict]) -> None:
    """By task and variant: the end by seed, the mean over the run, frames to nine tenths.

    And the steps back from which half of the episodes succeed, mean over the run.
    """
    found = defaultdict(list)
    for row in rows:
        found[row.get("rule", ""), row["task"], row["variant"]].append(row)
    rule = ""
    for (said, task, variant), group in found.items():
        if said != rule:
            print(f"\n{said}")
        rule = said
        best = BEST.get(task, 1.0)
        group.sort(key=lambda row: row["seed"])
        ends = [round(100 * row["final"] / best) for row in group]
        means = [np.mean([s for _, s in row["curve"]]) / best for row in group]
        firsts = [next((f for f, s in row["curve"] if s >= ENOUGH * best), None) for row in group]
        shown = [f"{f / 1000:.0f}k" if f else "-" for f in firsts]
        ways = [
            round(float(np.mean(row["way"])))
            for row in group
            if row.get("way", [None])[0] is not None
        ]
        print(f"{task:12} {variant:14} area {100 * np.mean(means):5.1f}  end {ends}  90% {shown}"
              f"  steps back {ways}")  # fmt: skip


def main(file: Path, seeds: str = "", tasks: str = "", *variants: str) -> None:
    file.touch()
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    done = {(row["task"], row["variant"], row["seed"]) for row in rows}
    names = {**vars(curricula), "Falls": Falls, "Tried": Tried}
    for seed in map(int, filter(None, seeds.split(","))):
        for task in tasks.split(","):
            for variant, _, words in (one.partition("=") for one in variants):
                if (task, variant, seed) in done:
                    continue
                began, (starts, _, changed) = time.process_time(), words.partition(";")
                frontier._kept.cache_clear()  # it was made with other constants
                with mock.patch.dict(vars(frontier), eval(f"dict({changed})")):
                    found = carried_out(task, eval(starts, names), seed)
                row = {"task": task, "variant": variant, "starts": words, "seed": seed, **found,
                       "cpu": round(time.process_time() - began)}  # fmt: skip
                print(task, variant, seed, row["final"], file=sys.stderr, flush=True)
                with file.open("a") as out:
                    out.write(json.dumps(row) + "\n")
    if not seeds:
        table(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
