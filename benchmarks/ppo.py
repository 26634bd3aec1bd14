"""Frames per second of our PPO against Stable-Baselines3's: same envs, networks and settings.

    python benchmarks/ppo.py

One torch thread each. The two alternate, a round each, so that a busy moment of the machine hits
both. A row's frames/s are its rounds' median; the last line is JSON.
"""

import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from minigrid.wrappers import ImgObsWrapper
from stable_baselines3 import PPO as TheirPPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import DummyVecEnv

from backplay.learners import PPO, PPOConfig, make_network
from backplay.learners.encoders import Image, linear, size_of

ENVS = 8
ROUNDS = 5


@dataclass(frozen=True, kw_only=True)
class Case:
    name: str
    make: Callable[[], gym.Env[Any, Any]]
    config: PPOConfig
    policy: str
    policy_options: dict[str, Any]
    """What gives Stable-Baselines3 our network."""
    updates: int
    """Updates of one round."""


class OurFeatures(BaseFeaturesExtractor):
    """Our convolutions and trunk, for Stable-Baselines3 to put its heads on."""

    def __init__(self, observation_space: gym.Space[Any]) -> None:
        super().__init__(observation_space, features_dim=128)
        generator = torch.Generator().manual_seed(0)
        self.image = Image(observation_space, generator)
        self.trunk = linear(size_of(self.image), 128, 2**0.5, generator)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.trunk(self.image(observations)).relu()


def cases() -> list[Case]:
    no_layers = {"net_arch": [], "normalize_images": False}
    return [
        Case(
            name="CartPole-v1",
            make=lambda: gym.make("CartPole-v1"),
            config=PPOConfig(num_steps=256, minibatch_size=64, passes=10, entropy_coefficient=0.0),
            policy="MlpPolicy",
            policy_options={"net_arch": {"pi": [64, 64], "vf": [64, 64]}},
            updates=4,
        ),
        Case(
            name="MiniGrid-Empty-8x8-v0",
            make=lambda: ImgObsWrapper(gym.make("MiniGrid-Empty-8x8-v0")),
            config=PPOConfig(num_steps=128, minibatch_size=64, passes=10),
            policy="CnnPolicy",
            policy_options={"features_extractor_class": OurFeatures, **no_layers},
            updates=4,
        ),
    ]


def ours(case: Case) -> Callable[[], None]:
    """A function that trains our PPO for one round."""
    envs = SyncVectorEnv([case.make] * ENVS, autoreset_mode=AutoresetMode.SAME_STEP)
    spaces = envs.single_observation_space, envs.single_action_space
    learner = PPO(make_network(*spaces, seed=0), spaces[1], case.config, seed=0)
    observations, _ = envs.reset(seed=0)

    def train() -> None:
        nonlocal observations
        for _ in range(case.updates):
            rollout = learner.collect(envs, observations)
            learner.update(rollout)
            observations = rollout.last_observations

    return train


def theirs(case: Case) -> Callable[[], None]:
    """A function that trains Stable-Baselines3's PPO for one round."""
    config = case.config
    model = TheirPPO(
        case.policy,
        DummyVecEnv([case.make] * ENVS),
        n_steps=config.num_steps,
        batch_size=config.minibatch_size,
        n_epochs=config.passes,
        learning_rate=config.learning_rate,
        gamma=config.discount,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        vf_coef=config.value_coefficient,
        ent_coef=config.entropy_coefficient,
        max_grad_norm=config.max_gradient_norm,
        policy_kwargs=case.policy_options,
        device="cpu",
        seed=0,
    )
    return lambda: model.learn(case.updates * config.num_steps * ENVS, reset_num_timesteps=False)


def frames_per_second(case: Case) -> tuple[float, float]:
    """Median frames/s of (ours, theirs)."""
    trainers = ours(case), theirs(case)
    rates: tuple[list[float], list[float]] = [], []
    frames = case.updates * case.config.num_steps * ENVS
    for train in trainers:
        train()  # warm up
    for _ in range(ROUNDS):
        for train, seen in zip(trainers, rates, strict=True):
            begin = time.perf_counter()
            train()
            seen.append(frames / (time.perf_counter() - begin))
    return statistics.median(rates[0]), statistics.median(rates[1])


def main() -> None:
    torch.set_num_threads(1)
    print(f"{'environment':24} {'ours':>10} {'SB3':>10} {'ratio':>7}   frames/s, {ENVS} envs")
    results = {}
    for case in cases():
        our_rate, their_rate = frames_per_second(case)
        ratio = our_rate / their_rate
        print(f"{case.name:24} {our_rate:10,.0f} {their_rate:10,.0f} {ratio:6.2f}×", flush=True)
        results[case.name] = {
            "ours": round(our_rate),
            "sb3": round(their_rate),
            "ratio": round(ratio, 2),
        }
    print(json.dumps({"benchmark": "ppo", "unit": "frames/s", "results": results}))


if __name__ == "__main__":
    main()
