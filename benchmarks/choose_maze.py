"""Chooses between curricula on the Maze: success from the true start over frames, sampled actions.

Make the mazes with another seed than those that results are reported on:

    backplay maze generate tune.npz --seed 11
    .venv/bin/python benchmarks/choose_maze.py tune.npz 1280000 0 "Staircase()"
"""

import json
import sys
import time
from unittest import mock

from backplay import curricula
from backplay.envs.maze.sets import load_mazes
from backplay.paper.maze import regimes

EVERY = 64_000  # frames between two measurements
ENOUGH = 0.95  # a run ends when two measurements in a row have it


def main(mazes: str, frames: int, seed: int, words: str) -> None:
    """One run with the preset `ours` and the curriculum of these words."""
    made, library, began = eval(words, vars(curricula)), load_mazes(mazes), time.process_time()
    run = regimes.MazeRun(
        regime="uniform", frames=frames, seed=seed, evaluations=max(1, frames // EVERY)
    )
    with mock.patch.object(regimes, "curriculum", return_value=made):
        training = regimes.training(run, library)
    curve = []
    for progress in training.run():
        if progress.evaluation is None:
            continue
        curve.append((progress.frames, progress.evaluation.success))
        print(*curve[-1], progress.starts, file=sys.stderr, flush=True)
        if len(curve) > 1 and min(success for _, success in curve[-2:]) >= ENOUGH:
            break
    seconds = round(time.process_time() - began)
    print(json.dumps({"starts": words, "mazes": mazes, "seed": seed, "frames": frames,
                      "curve": curve, "cpu": seconds}), flush=True)  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
