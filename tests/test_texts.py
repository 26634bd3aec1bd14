"""Texts in observations, of Dicts inside Dicts too: no network reads them, a run goes on."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

import backplay as bp
from backplay.data.packing import pack, unpack
from backplay.learners import PPOConfig
from backplay.train import TrainConfig, Training
from backplay.train.loop import without_words

SPACE = spaces.Dict(
    place=spaces.Discrete(5),
    said=spaces.Dict(text=spaces.Text(9), loud=spaces.Box(0, 1, (1,), np.float32)),
    name=spaces.Text(9),
)


class Told(gym.Env[Any, Any]):
    observation_space, action_space = SPACE, spaces.Discrete(2)

    def get_state(self) -> int:
        return self.place

    def set_state(self, state: int) -> None:
        self.place = state

    def _seen(self) -> Any:
        said = {"text": "go on", "loud": np.array([0.1 * self.place], np.float32)}
        return {"place": self.place, "said": said, "name": "a"}

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.place = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.place += int(action)
        return self._seen(), float(self.place == 4), self.place == 4, False, {}


def test_texts_are_left_out_wherever_they_are() -> None:
    env = without_words(Told())
    observation, _ = env.reset(seed=0)
    assert env.observation_space.contains(observation)
    assert list(observation) == ["place", "said"]
    assert list(observation["said"]) == ["loud"]
    bare = gym.make("CartPole-v1")
    assert without_words(bare) is bare


def test_a_run_on_them_goes_on_to_the_same_bytes() -> None:
    def make() -> gym.Env[Any, Any]:
        return gym.wrappers.TimeLimit(Told(), 20)

    demo = bp.record(make(), [1] * 4, seed=1)
    ppo = PPOConfig(num_steps=32, minibatch_size=32, passes=1)
    config = TrainConfig(frames=192, num_envs=2, evaluate_every=0, final_episodes=1, ppo=ppo)
    whole, states = Training(make, [demo], bp.Frontier(), config), []
    for _ in whole.run():
        states.append(pack(whole.state()))
    resumed = Training(make, [demo], bp.Frontier(), config)
    resumed.load_state(unpack(*states[0]))
    list(resumed.run())
    text, arrays = pack(resumed.state())
    assert text == states[-1][0]
    for one, other in zip(arrays, states[-1][1], strict=True):
        np.testing.assert_array_equal(one, other)
    whole.close()
    resumed.close()
