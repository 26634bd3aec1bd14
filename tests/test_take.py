"""An episode in the making: back to any step, another way from there, cut, saved."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import backplay as bp
from backplay.demos import take as takes
from backplay.demos.take import Take
from backplay.restore import Replay
from backplay.train.environments import make_env

STILL = {"is_slippery": False}
LAKE = [2, 2, 1, 1, 1, 2]  # to the goal of FrozenLake


def lake() -> Take:
    return Take(gym.make("FrozenLake-v1", **STILL), seed=0)


@pytest.mark.parametrize("env_id", ["MiniGrid-DoorKey-5x5-v0", "MountainCar-v0", "ALE/Freeway-v5"])
def test_undo_leads_to_the_same_episode_under_every_restorer(env_id: str) -> None:
    take = Take(make_env(env_id), seed=3)
    rng = np.random.default_rng(0)
    for _ in range(12):
        for action in rng.integers(3, size=3):
            if not take.ended:
                take.step(int(action))
        take.undo(int(rng.integers(4)))
    assert len(take) > 5
    demo = take.demonstration(make_env(env_id))
    assert demo == bp.record(make_env(env_id), take.actions, seed=3)
    assert bp.check(make_env(env_id), demo).exact


def test_going_back_where_something_survives_reset() -> None:
    class Counting(gym.Env[Any, Any]):
        """Shows how often it was reset; a generator inside, so that only a replay restores it."""

        observation_space = gym.spaces.Discrete(100_000)
        action_space = gym.spaces.Discrete(2)
        episodes = 0

        def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
            super().reset(seed=seed)
            self.episodes += 1
            self.clock = (step for step in range(1, 1_000))
            return 100 * self.episodes, {}

        def step(self, action: Any) -> Any:
            return 100 * self.episodes + next(self.clock), 0.0, False, False, {}

    gym.register("Counting-v0", Counting)
    take = Take(gym.make("Counting-v0"), seed=0)
    for _ in range(10):
        take.step(1)
    take.go(0)
    take.go(8)
    assert take.at == 8
    del gym.registry["Counting-v0"]


def test_undo_with_replay_goes_the_way_again() -> None:
    take = Take(gym.make("CartPole-v1"), seed=0, restorer=Replay())
    take.play([0, 1, 1])
    assert take.undo(2) == 2
    take.step(0)
    take.undo()
    take.step(1)
    assert take.actions == [0, 1]
    take.demonstration(gym.make("CartPole-v1"))


def test_going_back_keeps_what_comes_after_until_another_action_is_taken() -> None:
    take = lake()
    take.play(LAKE)
    assert take.ended
    assert take.terminated
    take.go(2)
    assert (take.at, len(take), take.ended, take.observation) == (2, 6, False, 2)
    take.go(6)
    assert take.ended
    assert take.total_reward == take.reward == 1.0
    take.go(2)
    take.step(0)
    assert (take.at, len(take), take.actions) == (3, 3, [2, 2, 0])
    with pytest.raises(bp.BackplayError, match="from 0 to 3"):
        take.go(4)


def test_states_are_thinned_and_every_step_is_still_reached_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(takes, "MOST_STATES", 32)
    env = gym.make("MountainCar-v0", max_episode_steps=2_000)
    take = Take(env, seed=1)
    rng = np.random.default_rng(1)
    seen = [take.observation]
    for action in rng.integers(3, size=700):
        take.step(int(action))
        seen.append(take.observation)
    assert len(take._states) <= 32
    for step in (int(s) for s in rng.integers(701, size=25)):
        take.go(step)
        assert np.array_equal(take.observation, seen[step])
        assert take._env.actions == take.actions[:step]


def test_a_large_state_is_kept_less_often() -> None:
    assert takes._how_many(np.zeros(16)) == takes.MOST_STATES
    assert takes._how_many(np.zeros(2**17)) == takes.STATE_BYTES // 2**20 - 1


def test_a_loop_is_found_and_cut_out() -> None:
    take = lake()
    take.play([2, 0, 2, 0, *LAKE])  # twice right and left again, then the way
    assert take.loops() == [(0, 4)]
    assert take.cut(0, 4) is None
    assert take.actions == LAKE
    assert take.ended
    assert take.loops() == []


def test_a_cut_that_changes_the_rest_says_where() -> None:
    take = lake()
    take.play(LAKE)
    assert take.cut(1, 2) == 2  # one right less: it walks another column, into a hole
    assert take.ended
    assert take.total_reward == 0.0


def test_an_environment_that_answers_otherwise_is_found_out() -> None:
    env = gym.make("MountainCar-v0")
    take = Take(env, seed=1)
    take.play([2] * 10)
    env.unwrapped.force = 0.002
    with pytest.raises(bp.BackplayError, match="another way"):
        take.go(1)


def test_only_what_lies_before_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    take = lake()
    with pytest.raises(bp.BackplayError, match="nothing to save"):
        take.demonstration(gym.make("FrozenLake-v1", **STILL))
    take.play(LAKE)
    take.go(4)
    assert len(take.demonstration(gym.make("FrozenLake-v1", **STILL))) == 4
    monkeypatch.setattr(takes, "_MOST_FILE_BYTES", 2)
    with pytest.raises(bp.BackplayError, match="too long"):
        take.demonstration(gym.make("FrozenLake-v1", **STILL))
