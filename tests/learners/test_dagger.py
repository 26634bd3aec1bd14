"""DAgger recovers where cloning drifts, and counts what it asks."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import probes
import pytest
import torch
from gymnasium import spaces

from backplay.errors import BackplayError
from backplay.learners import DAgger, Pairs, PPOConfig, clone, make_network
from backplay.learners.dagger import distinct

torch.set_num_threads(1)

ROOM = 5
CONFIG = PPOConfig(num_steps=16, minibatch_size=16, passes=20, learning_rate=0.01)


class Corridor(gym.Env[Any, Any]):
    """Places 0 to 9 in a row, seen one-hot; the goal is 5, and wind now and then blows along.

    A demonstration from 0 never sees what lies beyond the goal.
    """

    def __init__(self, first: int = 0) -> None:
        self.observation_space = spaces.Box(0, 1, (10,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.first, self.place, self.clock = first, 0, 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.clock = self.first, 0
        return seen(self.place), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.clock += 1
        jump = 6 if self.np_random.random() < 0.2 else 1 if action == 1 else -1
        self.place = int(np.clip(self.place + jump, 0, 9))
        return seen(self.place), 0.0, self.place == ROOM, self.clock == 20, {}


def seen(place: int) -> Any:
    return np.eye(10, dtype=np.float32)[place]


def expert(observations: Any) -> Any:
    """Walks towards the goal from either side."""
    return (np.asarray(observations).argmax(-1) < ROOM).astype(np.int64)


FIRST = Pairs(np.eye(10, dtype=np.float32)[:ROOM], np.ones(ROOM, np.int64))
ALL = np.eye(10, dtype=np.float32)


def learner_for(seed: int = 0) -> DAgger:
    env = Corridor()
    net = make_network(env.observation_space, env.action_space, seed=seed, hidden=(16,))
    return DAgger(net, env.action_space, CONFIG, seed=seed, expert=expert, first=FIRST)


def test_dagger_recovers_where_cloning_drifts() -> None:
    network = make_network(Corridor().observation_space, spaces.Discrete(2), seed=0, hidden=(16,))
    list(clone(network, *FIRST, action_space=spaces.Discrete(2), epochs=200, seed=0))
    with torch.inference_mode():
        cloned = network(torch.from_numpy(ALL))[0].argmax(-1).numpy()
    assert cloned[:ROOM].tolist() == [1] * ROOM
    assert (cloned[ROOM + 1 :] == 1).any()  # blown beyond the goal, it walks on
    learner = learner_for()
    probes.train(learner, Corridor, 5)
    beyond = np.delete(ALL, ROOM, 0)
    assert learner.act(beyond, greedy=True).tolist() == expert(beyond).tolist()


def test_what_is_asked_is_counted_once() -> None:
    learner, asked = learner_for(), []

    def asking(observations: Any) -> Any:
        asked.extend(np.asarray(observations).argmax(-1).tolist())
        return expert(observations)

    learner._ask = asking
    metrics = probes.train(learner, Corridor, 6)
    assert sorted(asked) == sorted(set(asked))
    assert not set(asked) & set(range(ROOM))  # the demonstration said it already
    assert metrics["labels"] == learner.labels == len(asked) > 0
    assert metrics["known_states"] == ROOM + len(asked)


def test_a_loaded_learner_goes_on_bit_for_bit() -> None:
    through = learner_for()
    probes.train(through, Corridor, 2)
    saved = through.state()
    metrics = probes.train(through, Corridor, 2)
    resumed = learner_for(seed=9)
    resumed.load_state(saved)
    assert probes.train(resumed, Corridor, 2) == metrics
    assert torch.equal(resumed.state()["known"]["actions"], through.state()["known"]["actions"])
    assert all(
        torch.equal(a, b)
        for a, b in zip(resumed.network.parameters(), through.network.parameters(), strict=True)
    )


def test_an_expert_who_says_nonsense_is_refused() -> None:
    learner = learner_for()
    learner._ask = lambda observations: np.full(len(observations), 7)
    with pytest.raises(BackplayError, match="actions"):
        probes.train(learner, Corridor, 3)


def test_distinct_rows_of_nested_observations() -> None:
    rows: Any = {"a": np.array([1, 2, 1, 1]), "b": {"c": np.array([[0.5], [0.5], [0.5], [1.0]])}}
    assert distinct(rows).tolist() == [0, 1, 3]
    assert distinct(np.zeros(3)).tolist() == [0]
