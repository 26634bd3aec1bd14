"""What BackplayEnv costs: stepping with and without it, and one restore, in steps of that env.

Ratios are medians over alternating rounds in one process: a busy machine disturbs both sides.
Ends with one JSON line. Run: .venv/bin/python benchmarks/wrapper.py
"""

import io
import json
import time
import warnings

import ale_py
import gymnasium as gym
import minigrid
import numpy as np
from gymnasium.wrappers import AtariPreprocessing, FrameStackObservation

import backplay as bp
from backplay.records import Start
from backplay.restore import believed

warnings.simplefilter("ignore")
gym.register_envs(ale_py)
gym.register_envs(minigrid)
gym.logger.min_level = gym.logger.ERROR

STEPS, ROUNDS, RESTORES = 2_000, 15, 200


def montezuma():
    return gym.make("ALE/MontezumaRevenge-v5")


def montezuma_stacked():
    env = AtariPreprocessing(gym.make("ALE/MontezumaRevenge-v5", frameskip=1))
    return FrameStackObservation(env, 4)


class Corridor(gym.Env):
    """A corridor with a state API of its own."""

    observation_space = gym.spaces.Box(0, 1000, (1,), np.float32)
    action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return self._look(), {}

    def step(self, action):
        self.place = max(0, self.place + (1 if self.np_random.random() < 0.9 else -1))
        return self._look(), 0.0, self.place >= 1000, False, {}

    def get_state(self):
        return {"place": self.place}

    def set_state(self, state):
        self.place = state["place"]

    def _look(self):
        return np.array([self.place], np.float32)


ENVS = {
    "a corridor of 1,000 cells": lambda: gym.wrappers.TimeLimit(Corridor(), 500),
    "CartPole": lambda: gym.make("CartPole-v1"),
    "MiniGrid DoorKey 8x8": lambda: gym.make("MiniGrid-DoorKey-8x8-v0"),
    "ALE Montezuma": montezuma,
    "ALE Montezuma, preprocessed, 4 frames": montezuma_stacked,
    "MuJoCo HalfCheetah": lambda: gym.make("HalfCheetah-v5"),
    "LunarLander": lambda: gym.make("LunarLander-v3"),
}


def step_seconds(env, actions, steps) -> float:
    """Seconds per step, resets left out: only the stepping path differs."""
    spent = 0.0
    for i in range(steps):
        began = time.perf_counter()
        _, _, terminated, truncated, _ = env.step(actions[i % len(actions)])
        spent += time.perf_counter() - began
        if terminated or truncated:
            env.reset()
    return spent / steps


def checks_percent(make, demo) -> float | None:
    """What distrust of a file costs a restore: states of a file, and the same as recorded here."""
    if not demo.restorer.storable:
        return None
    loaded = bp.load(io.BytesIO(demo.to_bytes()), make())
    ways, env, rng = (believed(loaded.restorer), loaded.restorer), make(), np.random.default_rng(0)
    env.reset(seed=0)
    steps, spent = rng.integers(1, len(demo), RESTORES), ([], [])
    for _ in range(ROUNDS):
        for way, times in zip(ways, spent, strict=True):
            began = time.process_time()
            for step in steps:
                way.load(env, loaded.states[step], rng)
            times.append(time.process_time() - began)
    return round(100 * (min(spent[1]) / min(spent[0]) - 1), 2)


def measure(make) -> dict[str, float | str]:
    env = make()
    env.action_space.seed(0)
    demo = bp.record(env, lambda _: env.action_space.sample(), seed=0, max_steps=100)
    plain, wrapped = make(), bp.BackplayEnv(make(), [demo], bp.Standard())
    actions = [env.action_space.sample() for _ in range(256)]
    for side in (plain, wrapped):
        side.reset(seed=0)
        step_seconds(side, actions, STEPS // 4)
    ratios, steps = [], []
    slow = step_seconds(plain, actions, 100) > 2e-4
    for _ in range(ROUNDS):
        count = STEPS // 8 if slow else STEPS
        for side in (plain, wrapped):
            side.reset(seed=1)
        before = step_seconds(plain, actions, count)
        inside = step_seconds(wrapped, actions, count)
        steps.append(before)
        ratios.append(inside / before)
    step = float(np.median(steps))
    rng = np.random.default_rng(0)
    starts = [int(s) for s in rng.integers(len(demo), size=RESTORES)]
    began = time.perf_counter()
    for start in starts:
        wrapped.reset(options={"start": Start(0, max(1, min(start, len(demo) - 1)))})
    restore = (time.perf_counter() - began) / RESTORES
    began = time.perf_counter()
    for _ in range(20):
        plain.reset()
    reset = (time.perf_counter() - began) / 20
    return {
        "restorer": demo.restorer.name,
        "steps_per_second": round(1 / step),
        "overhead_percent": round(100 * (float(np.median(ratios)) - 1), 2),
        "restore_microseconds": round(1e6 * restore, 1),
        "restore_in_steps": round(restore / step, 1),
        "restore_in_resets": round(restore / reset, 2),
        "checks_percent": checks_percent(make, demo),
    }


def main() -> None:
    results = {}
    columns = ("restorer", 11), ("steps/s", 10), ("overhead", 10), ("restore", 12), ("= steps", 9)
    print(f"{'env':<40}" + "".join(f"{n:>{w}}" for n, w in columns) + " = resets   checks")
    for name, make in ENVS.items():
        row = measure(make)
        results[name] = row
        print(
            f"{name:<40}{row['restorer']:>11}{row['steps_per_second']:>10}"
            f"{row['overhead_percent']:>9}%{row['restore_microseconds']:>9} µs"
            f"{row['restore_in_steps']:>9}{row['restore_in_resets']:>9}{row['checks_percent']!s:>8}%"
        )
    print(json.dumps({"benchmark": "wrapper", "results": results}))


if __name__ == "__main__":
    main()
