"""Tries settings of the network that plans, on mazes on which nothing is reported.

    .venv/bin/python benchmarks/choose_planning.py 500000 1
    .venv/bin/python benchmarks/choose_planning.py 500000 1 learning_rate=0.06

Comes in: frames, a seed, settings of PPO. Goes out: for each evaluation a line of JSON: what came
of 300 mazes held out and of 200 with 160 walls, frames per second of CPU, the numbers learned.
"""

import json
import sys
import time
from dataclasses import replace

import torch

from backplay.envs.maze.generate import generate, generate_set
from backplay.paper.maze import regimes
from backplay.paper.maze.job import MazeJob
from backplay.paper.maze.planning import PlanningMazeNetwork

CHOSEN_ON = 11  # the set of mazes; results are of set 5


def main(frames: int, seed: int, *settings: str) -> None:
    """One run of Uniform on 2,000 mazes."""
    torch.set_num_threads(1)
    changes = {name: float(value) for name, value in (one.split("=") for one in settings)}
    library = generate(mazes=2_000, held_out=300, seed=CHOSEN_ON)
    denser = generate_set(200, CHOSEN_ON, size=24, walls=160)
    run = MazeJob(regime="uniform", frames=frames, seed=seed, evaluations=6, planning=4)
    config = regimes.settings(run)
    config = replace(config, ppo=replace(config.ppo, **changes))  # type: ignore[arg-type]
    training = regimes.training(run, library, config=config)
    network = training.learner.network
    assert isinstance(network, PlanningMazeNetwork)
    began, measuring = time.process_time(), 0.0
    for progress in training.run():
        if progress.evaluation is None:
            continue
        stopped = time.process_time()
        found = regimes.measure(network, library.held_out)
        line = {
            "frames": progress.frames, "seed": seed, **changes,
            "frames_per_cpu_second": round(progress.frames / (stopped - began - measuring)),
            "held_out": found["greedy"], "sampled": found["sampled"]["success"],
            "denser": float(regimes.plays(network, denser)["greedy"].successes.mean()),
            "model": [round(number, 4) for number in network.model().tolist()],
        }  # fmt: skip
        print(json.dumps(line), flush=True)
        measuring += time.process_time() - stopped


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
