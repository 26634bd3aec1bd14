"""How fast the Maze is: batched steps, the single env, and making demonstrations.

Medians over rounds in one process, after compilation, on one core. Ends with one JSON line.
Run: .venv/bin/python benchmarks/maze_env.py
"""

import json
import time

import numpy as np

import backplay as bp
from backplay.envs.maze import Maze, MazeVector, generate, generate_set

NUM_ENVS, STEPS, ROUNDS = 4096, 400, 9
STEPS_TARGET, SECONDS_TARGET = 20e6, 2.0  # steps a second; seconds for 100 demonstrations
SINGLE_STEPS = 20_000

STARTS = {
    "the initial state": bp.Standard(),
    "anywhere": bp.Uniform(),
    **{
        f"[{lo}, {hi}) steps back": bp.Backplay((bp.Window(0, lo, hi),))
        for lo, hi in ((0, 4), (8, 16), (32, 64))
    },
}


def batched(mazes, curriculum) -> float:
    """Steps a second of all agents together, random actions, everything returned."""
    envs = MazeVector(NUM_ENVS, mazes, curriculum=curriculum)
    envs.reset(seed=0)
    actions = np.random.default_rng(0).integers(5, size=(64, NUM_ENVS))
    speeds = []
    for _ in range(ROUNDS + 1):
        began = time.perf_counter()
        for t in range(STEPS):
            envs.step(actions[t % 64])
        speeds.append(NUM_ENVS * STEPS / (time.perf_counter() - began))
        envs.take_episodes()
    return float(np.median(speeds[1:]))


def single(mazes) -> float:
    """Steps a second of the single env, resets included."""
    env = Maze(mazes)
    env.reset(seed=0)
    actions = np.random.default_rng(0).integers(5, size=SINGLE_STEPS).tolist()
    speeds = []
    for _ in range(3):
        began = time.perf_counter()
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        speeds.append(SINGLE_STEPS / (time.perf_counter() - began))
    return float(np.median(speeds))


def making(extra: int) -> float:
    """Seconds for 100 demonstrations of 35 steps or more."""
    seconds = []
    for seed in range(3):
        began = time.perf_counter()
        generate(mazes=100, held_out=0, extra=extra, seed=seed)
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))


def main() -> None:
    generate_set(2, 0, extra=5)  # compiles
    mazes = generate(seed=0).training
    results = {"num_envs": NUM_ENVS, "batched": {}, "making": {}}
    print(f"{'starts':<26}{'M steps/s':>12}{'of target':>12}")
    for name, curriculum in STARTS.items():
        speed = batched(mazes, curriculum)
        results["batched"][name] = round(speed)
        print(f"{name:<26}{speed / 1e6:>12.1f}{speed / STEPS_TARGET:>11.1f}x")
    results["single"] = round(single(mazes))
    print(f"{'single env':<26}{results['single'] / 1e6:>12.2f}")
    print(f"\n{'100 demonstrations':<26}{'seconds':>12}{'of target':>12}")
    for extra in (0, 5, 10):
        seconds = making(extra)
        results["making"][extra] = round(seconds, 4)
        print(f"{f'{extra} extra steps':<26}{seconds:>12.2f}{SECONDS_TARGET / seconds:>11.1f}x")
    print(json.dumps({"benchmark": "maze_env", "results": results}))


if __name__ == "__main__":
    main()
