"""Pommerman: frames a second, playing and learning together, against three FSMTS agents.

    python benchmarks/pommerman_training.py

One thread and one process each: our presets, `ours` with products in float32 too, and
Stable-Baselines3's PPO with the small convolution. Rounds alternate, so that a busy moment of the
machine hits all; a rate is its rounds' median, in seconds of the processor. Slow networks play
fewer frames: those of one round are shown. Then, for the preset `ours` in bfloat16, where the time
goes. The last line is JSON.
"""

import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3 import PPO as TheirPPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv

from backplay.envs.pommerman.vector import PommermanVector
from backplay.learners import PPO
from backplay.learners.sparse import FactSum, TableAdam, fact_network
from backplay.paper.pommerman.network import SHAPES, BoardNetwork
from backplay.paper.pommerman.presets import PRESETS
from backplay.products import rounds

ENVS, ROUNDS = 60, 5
IN_FLOAT32 = ", float32"
STEPS = {
    "ours": 128, "ours" + IN_FLOAT32: 128, "paper-learner": 1_707, "convolution": 16, "paper": 1,
}  # fmt: skip
"""Of each game in one round; a whole batch where the network allows."""
WARM_UP = 256  # steps that nobody counts: games have then passed their beginnings
THEIRS = "Stable-Baselines3, convolution"


class Ours:
    """A preset at work on fresh boards."""

    def __init__(self, name: str) -> None:
        preset = PRESETS[name.removesuffix(IN_FLOAT32)]
        chosen = "float32" if name.endswith(IN_FLOAT32) else "bfloat16"
        options = {"precision": chosen} if preset.network is fact_network else {}
        if preset.bounded:
            options["bound"] = 1.0
        self.envs = PommermanVector(ENVS, observation=preset.observation, copy=False)
        space, actions = self.envs.single_observation_space, self.envs.single_action_space
        settings = preset.ppo.__class__(**{**vars(preset.ppo), "num_steps": STEPS[name]})
        network = preset.network(space, actions, seed=0, **options)
        self.learner = PPO(network, actions, settings, seed=0)
        self.seen, _ = self.envs.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(WARM_UP):
            self.seen = self.envs.step(rng.integers(0, 5, ENVS))[0]
        self.seconds = {"playing": 0.0, "learning": 0.0}

    def round(self) -> int:
        began = time.process_time()
        rollout = self.learner.collect(self.envs, self.seen)
        self.seen = rollout.last_observations
        collected = time.process_time()
        self.learner.update(rollout)
        self.seconds["playing"] += collected - began
        self.seconds["learning"] += time.process_time() - collected
        return rollout.frames


class AsTheirs(VecEnv):
    """The games as Stable-Baselines3 wants them."""

    def __init__(self) -> None:
        self.games = PommermanVector(ENVS)
        super().__init__(ENVS, self.games.single_observation_space, self.games.single_action_space)
        self.actions: NDArray[np.int64] = np.zeros(ENVS, np.int64)

    def reset(self) -> Any:
        return self.games.reset(seed=0)[0]

    def step_async(self, actions: NDArray[np.int64]) -> None:
        self.actions = actions

    def step_wait(self) -> Any:
        seen, rewards, over, _, infos = self.games.step(self.actions)
        told: list[dict[str, Any]] = [{} for _ in range(ENVS)]
        for i in np.flatnonzero(over):
            told[i] = {"terminal_observation": infos["final_obs"][i]}
        return seen, rewards.astype(np.float32), over, told

    def close(self) -> None:
        self.games.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.games, attr_name, None)] * ENVS

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * ENVS


class Convolution(BaseFeaturesExtractor):
    """The body of the small convolution."""

    def __init__(self, observation_space: spaces.Box) -> None:
        shape = SHAPES["convolution"]
        super().__init__(observation_space, features_dim=shape.hidden[-1])
        channels, height, width = observation_space.shape
        self.body = BoardNetwork((channels, height, width), 6, shape, 0).body

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        features: torch.Tensor = self.body(observations)
        return features


class Theirs:
    """Stable-Baselines3's PPO with the settings of the preset `convolution`."""

    def __init__(self) -> None:
        settings, steps = PRESETS["convolution"].ppo, STEPS["convolution"]
        self.frames = ENVS * steps
        self.model = TheirPPO(
            "CnnPolicy", AsTheirs(), n_steps=steps, batch_size=settings.minibatch_size,
            n_epochs=settings.passes, gamma=1.0, ent_coef=settings.entropy_coefficient,
            policy_kwargs={
                "features_extractor_class": Convolution, "net_arch": [], "normalize_images": False
            },
            device="cpu", seed=0,
        )  # fmt: skip
        self.model.learn(self.frames)

    def round(self) -> int:
        self.model.learn(self.frames, reset_num_timesteps=False)
        return self.frames


def rates() -> tuple[dict[str, float], Ours]:
    """Frames a second of the processor, by name."""
    at_work: dict[str, Ours | Theirs] = {name: Ours(name) for name in STEPS}
    at_work[THEIRS] = Theirs()
    for one in at_work.values():
        one.round()  # kernels are compiled
    found: dict[str, list[float]] = {name: [] for name in at_work}
    frames = dict.fromkeys(at_work, 0)
    for _ in range(ROUNDS):
        for name, one in at_work.items():
            began = time.process_time()
            frames[name] = one.round()
            found[name].append(frames[name] / (time.process_time() - began))
    medians = {name: statistics.median(each) for name, each in found.items()}
    for name, rate in medians.items():
        ratio = medians["ours"] / rate
        print(f"{name:32s}{rate:10,.0f} frames/s{ratio:9.1f} x slower{frames[name]:9,} a round")
    ours = at_work["ours"]
    assert isinstance(ours, Ours)
    return medians, ours


def seconds_of(work: Callable[[], Any], times: int = 5) -> float:
    """The median of a few runs, in seconds of the processor."""
    work()
    found = []
    for _ in range(times):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return statistics.median(found)


def shares(ours: Ours) -> dict[str, float]:
    """Microseconds of a frame, by part."""
    learner, envs = ours.learner, ours.envs
    began = time.process_time()
    rollout = learner.collect(envs, ours.seen)
    collecting = (time.process_time() - began) / rollout.frames
    actions = rollout.actions.numpy()
    games = seconds_of(lambda: [envs.step(row) for row in actions[:32]]) / (32 * ENVS)
    updating = seconds_of(lambda: learner.update(rollout)) / rollout.frames

    config, layer = learner.config, learner.network.first
    assert isinstance(layer, FactSum)
    facts = rollout.observations.flatten(0, 1)[: config.minibatch_size]  # type: ignore[union-attr]
    assert isinstance(facts, torch.Tensor)
    seen = learner.network.compact(facts).contiguous()
    features = layer.cut_off if rounds("bfloat16", layer.table) else layer
    gradient = torch.full_like(features(seen), 1e-6)
    gathering = seconds_of(lambda: features(seen)) / len(facts)
    both = seconds_of(lambda: features(seen).backward(gradient)) / len(facts)
    adam = TableAdam(layer, eps=1e-5)
    steps = (len(config.minibatch_bounds(rollout.frames)) - 1) * config.passes
    adam.load_state(learner.state()["optimiser"]["table_0"])
    stepping = seconds_of(lambda: adam.step(1, scale=0.0, learning_rate=0.0)) * steps
    found = {
        "games, opponents and facts": games,
        "acting": collecting - games,
        "sums of rows": gathering * config.passes,
        "gradients of rows": (both - gathering) * config.passes,
        "Adam on rows": stepping / rollout.frames,
    }
    found["other layers, losses, shuffling"] = updating - sum(list(found.values())[2:])
    return {name: 1e6 * each for name, each in found.items()}


def main() -> None:
    torch.set_num_threads(1)
    found, ours = rates()
    parts = shares(ours)
    print()
    for name, each in parts.items():
        print(f"{name:36s}{each:8.1f} us a frame")
    print(json.dumps({"frames_per_second": found, "microseconds_a_frame": parts}))


if __name__ == "__main__":
    main()
