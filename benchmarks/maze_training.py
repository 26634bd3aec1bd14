"""Frames per second of training on 100 mazes: the fast network, the dense one, Stable-Baselines3.

    python benchmarks/maze_training.py

The paper's batch (60 agents x 1,707 steps), minibatch (5,120) and passes (4), one thread. Three
points of training: starts in the first window, in a middle one, and at the true start, each with
the network at its first weights: its agents wander, so a minibatch holds as many distinct states as
it ever does, and the fast network's lead is at its smallest. The dense network's cost per frame
depends neither on the batch's size nor on the point of training; a minibatch of it takes seconds,
so it is measured on a batch of 5,120 frames. The last line is JSON.
"""

from __future__ import annotations

import cProfile
import json
import pstats
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box
from stable_baselines3 import PPO as TheirPPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv

from backplay import Standard, Window
from backplay.curricula import Backplay, Curriculum
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.generate import generate
from backplay.envs.maze.network import DenseMazeNetwork
from backplay.envs.maze.sets import MazeSet
from backplay.envs.maze.vector import MazeVector
from backplay.learners import PPO, PPOConfig

AGENTS, STEPS, MINIBATCH, PASSES = 60, 1707, 5120, 4
SMALL_AGENTS, SMALL_STEPS = 64, 80  # one minibatch
POINTS: dict[str, Curriculum] = {
    "first window": Backplay((Window(0, 0, 4),)),
    "middle window": Backplay((Window(0, 8, 16),)),
    "true start": Standard(),
}
CONFIG = {
    "minibatch_size": MINIBATCH, "passes": PASSES, "learning_rate": 1e-3,
    "entropy_coefficient": 0.01, "normalise_advantages": "batch",
}  # fmt: skip
PARTS = {
    "third_layer_backward": "third layer, backward", "third_layer": "third layer, forward",
    "second_layer": "second layer without agents", "with_agent": "second layer around agents",
    "second_layer_backward": "second layer, backward", "with_agent_backward": "around, backward",
    "run_backward": "tables, heads and loss, backward", "backward": "products, backward",
    "addmm": "products, forward", "collect": "acting and stepping", "step": "stepping",
}  # fmt: skip


def ours(mazes: MazeSet, curriculum: Curriculum, dense: bool) -> Callable[[], tuple[int, float]]:
    """A function that collects and learns once, and says how many frames and seconds it took."""
    agents, steps = (SMALL_AGENTS, SMALL_STEPS) if dense else (AGENTS, STEPS)
    envs = MazeVector(agents, mazes, curriculum=curriculum)
    network = (DenseMazeNetwork if dense else FastMazeNetwork)(mazes.walls, mazes.goals, seed=0)
    learner = PPO(network, envs.single_action_space, PPOConfig(num_steps=steps, **CONFIG), seed=0)
    observations, _ = envs.reset(seed=0)
    start = {key: part.clone() for key, part in learner.state()["network"].items()}

    def once() -> tuple[int, float]:
        nonlocal observations
        network.load_state_dict(start)
        began = time.perf_counter()
        rollout = learner.collect(envs, observations)
        observations = rollout.last_observations
        learner.update(rollout)
        return rollout.frames, time.perf_counter() - began

    return once


class Features(BaseFeaturesExtractor):
    """The dense network up to its heads, for Stable-Baselines3 to put its own on."""

    mazes: MazeSet

    def __init__(self, observation_space: Any) -> None:
        super().__init__(observation_space, features_dim=128)
        self.network = DenseMazeNetwork(self.mazes.walls, self.mazes.goals, seed=0)
        self.network.heads = lambda hidden: torch.relu(self.network.fourth(hidden.relu()))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.network(observations)


class TheirVector(VecEnv):
    """A MazeVector as Stable-Baselines3 wants it; its PPO sets no attribute and calls no method."""

    def __init__(self, envs: MazeVector) -> None:
        self.envs = envs
        largest = np.array(envs.single_observation_space.nvec, np.float32) - 1
        space = Box(np.zeros(2, np.float32), largest)
        super().__init__(envs.num_envs, space, envs.single_action_space)

    def reset(self) -> Any:
        return self.envs.reset(seed=0)[0].astype(np.float32)

    def step_async(self, actions: Any) -> None:
        self.actions = actions

    def step_wait(self) -> Any:
        seen, rewards, ended, cut, infos = self.envs.step(self.actions)
        listed: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for i in np.flatnonzero(ended | cut):
            listed[i]["terminal_observation"] = infos["final_obs"][i].astype(np.float32)
            listed[i]["TimeLimit.truncated"] = bool(cut[i] and not ended[i])
        return seen.astype(np.float32), rewards.astype(np.float32), ended | cut, listed

    def close(self) -> None:
        pass

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


def theirs(mazes: MazeSet, curriculum: Curriculum) -> Callable[[], tuple[int, float]]:
    """As `ours`, with Stable-Baselines3's PPO and the dense network."""
    Features.mazes = mazes
    model = TheirPPO(
        "MlpPolicy", TheirVector(MazeVector(SMALL_AGENTS, mazes, curriculum=curriculum)),
        n_steps=SMALL_STEPS, batch_size=MINIBATCH, n_epochs=PASSES, learning_rate=1e-3,
        ent_coef=0.01, seed=0, device="cpu",
        policy_kwargs={
            "features_extractor_class": Features, "net_arch": [], "ortho_init": False,
            "normalize_images": False,
        },
    )  # fmt: skip

    def once() -> tuple[int, float]:
        began = time.perf_counter()
        model.learn(SMALL_AGENTS * SMALL_STEPS, reset_num_timesteps=False)
        return SMALL_AGENTS * SMALL_STEPS, time.perf_counter() - began

    return once


def best(once: Callable[[], tuple[int, float]], rounds: int) -> float:
    """Frames per second of the fastest of some rounds: a busy machine only adds to the others."""
    return max(frames / seconds for frames, seconds in (once() for _ in range(rounds)))


def gigaflops() -> float:
    """What a large matrix product reaches on one core."""
    a = torch.randn(1024, 1024)
    times = []
    for _ in range(12):
        began = time.perf_counter()
        a @ a
        times.append(time.perf_counter() - began)
    return 2 * 1024**3 / min(times) / 1e9


def where(once: Callable[[], tuple[int, float]]) -> None:
    """Prints where the time of one round goes."""
    profile = cProfile.Profile()
    profile.enable()
    _, seconds = once()
    profile.disable()
    rows = []
    for (file, _, name), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]  # untyped
        label = next(
            (PARTS[key] for key in PARTS if key == name.split(".")[-1].split("'")[0]), None
        )
        if "run_backward" in name:
            label = PARTS["run_backward"]
        rows.append((own, label or f"{name} ({file.rsplit('/', 1)[-1]})"))
    print(f"\nwhere the time of a round of {seconds:.1f} s goes (true start, with the profiler on)")
    for own, label in sorted(rows, reverse=True)[:14]:
        print(f"  {own / seconds:6.1%}  {label}")


def main() -> None:
    torch.set_num_threads(1)
    mazes = generate(seed=0).training
    ours(mazes, Standard(), dense=False)()  # compiles
    speed = gigaflops()
    dense_frame = 16.6e6 * (1 + 3 * PASSES)  # a forward pass to act, three in each pass to learn
    limit = speed * 1e9 / dense_frame
    print(f"one core does {speed:.0f} GFLOP/s in a matrix product")
    print(f"a frame of the dense network is {dense_frame / 1e6:.0f} MFLOP: at most {limit:.0f}/s\n")
    print(f"{'starts':<14} {'fast':>9} {'dense':>7} {'SB3':>6} {'fast/dense':>11} {'fast/SB3':>9}")
    found = {}
    for name, curriculum in POINTS.items():
        fast = best(ours(mazes, curriculum, dense=False), 2)
        dense = best(ours(mazes, curriculum, dense=True), 1)
        sb3 = best(theirs(mazes, curriculum), 1)
        found[name] = {"fast": round(fast), "dense": round(dense, 1), "sb3": round(sb3, 1)}
        ratios = f"{fast / dense:>10.0f}x {fast / sb3:>8.0f}x"
        print(f"{name:<14} {fast:>7,.0f}/s {dense:>5.0f}/s {sb3:>4.0f}/s {ratios}", flush=True)
    where(ours(mazes, Standard(), dense=False))
    last = found["true start"]
    hours = 2000 * AGENTS * STEPS / last["fast"] / 3600
    print(f"\nthe paper's 2,000 epochs, 205 M frames: {hours:.1f} hours on one core at this speed")
    print(
        json.dumps(
            {
                "points": found, "gflops": round(speed), "dense_limit": round(limit),
                "over_dense": round(last["fast"] / last["dense"], 1),
                "over_sb3": round(last["fast"] / last["sb3"], 1), "paper_hours": round(hours, 1),
            }
        )
    )  # fmt: skip


if __name__ == "__main__":
    main()
