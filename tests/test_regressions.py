"""Mistakes that were made once."""

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeAwareObservation
from stable_baselines3 import PPO

import backplay as bp
import envs_for_tests as envs
from backplay.records import Start
from backplay.restore import Replay


def mountaincar(**kwargs: Any) -> gym.Env:
    return gym.make("MountainCar-v0", **kwargs)


def climb(observation: np.ndarray) -> int:
    return 2 if observation[1] >= 0 else 0


class Game:
    """Many attributes, a random stream among them."""

    def __init__(self) -> None:
        for letter in "abcdefghijk":
            setattr(self, letter, 0)
        self.rng = np.random.default_rng(0)


class GameEnv(gym.Env):
    observation_space = gym.spaces.Box(0, 1, (1,), np.float64)
    action_space = gym.spaces.Discrete(2)

    def __init__(self) -> None:
        self.game = Game()
        self.steps = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.game.rng = np.random.default_rng(seed)
        self.steps = 0
        return self._look(), {}

    def step(self, action):
        self.steps += 1
        return self._look(), 0.0, self.steps >= 20, False, {}

    def _look(self):
        return np.array([self.game.rng.random()])


def test_a_stream_inside_an_object_of_many_attributes_is_reseeded():
    demo = bp.record(GameEnv(), [0] * 20)
    env = bp.BackplayEnv(GameEnv(), [demo], bp.Uniform())
    seen = set()
    for _ in range(5):
        env.reset(options={"start": Start(0, 7)})
        seen.add(float(env.step(0)[0][0]))
    assert len(seen) == 5


def test_the_limit_of_the_env_stays_its_own():
    demo = bp.record(mountaincar(max_episode_steps=1000), climb, seed=7)
    env = bp.BackplayEnv(mountaincar(), [demo], bp.Uniform())
    env.reset(seed=0, options={"start": Start(0, 50)})
    env.reset(options={"start": Start(0, 0)})
    steps = 1
    while not env.step(1)[3]:
        steps += 1
    assert steps == 200


def test_replayed_steps_count_once_over_two_calls_of_learn():
    demo = bp.record(mountaincar(), climb, seed=7, restorer=Replay())
    env = bp.BackplayEnv(mountaincar(), [demo], bp.Frontier())
    callback = bp.sb3.CurriculumCallback()
    model = PPO("MlpPolicy", env, n_steps=256, batch_size=64, n_epochs=1, seed=0)
    for _ in range(2):
        model.learn(256, callback=callback)
    assert callback.curriculum.frames == 512 + env.restored_steps


def test_an_episode_from_reset_is_judged_alike_whatever_was_drawn():
    def balance(observation: np.ndarray) -> int:
        return int(observation[2] + observation[3] > 0)

    # Cut after 3 and after 40 steps, a reward each; a constant push lasts about nine.
    demos = [bp.record(gym.make("CartPole-v1"), balance, seed=0, max_steps=n) for n in (3, 40)]
    env = bp.BackplayEnv(gym.make("CartPole-v1"), demos, bp.Standard())
    episodes = []
    for demo in (0, 1):
        env.reset(seed=1, options={"start": Start(demo, 0)})
        while not any(env.step(1)[2:4]):
            pass
        episodes += env.take_episodes()
    assert [3 < e.total_reward < 40 for e in episodes] == [True, True]
    assert [e.success for e in episodes] == [True, True]


def test_a_wrapped_env_can_be_pickled():
    demo = bp.record(mountaincar(), climb, seed=7)
    env = bp.BackplayEnv(mountaincar(), [demo], bp.Uniform())
    again = pickle.loads(pickle.dumps(env))
    assert np.array_equal(again.reset(seed=3)[0], env.reset(seed=3)[0])


def test_a_controller_may_compute_in_double_precision():
    demo = bp.record(gym.make("Pendulum-v1"), lambda o: np.array([0.5]), seed=1)
    assert demo.actions[0].dtype == np.float32


def test_how_the_user_prints_numbers_changes_nothing():
    demo = bp.record(gym.make("CartPole-v1"), [0, 1] * 5)  # bounds of many digits
    with np.printoptions(precision=2):
        assert bp.check(gym.make("CartPole-v1"), demo).exact


def test_seeds_may_be_bounded():
    class Levels(envs.Corridor):
        def reset(self, *, seed=None, options=None):
            assert seed is None or 0 <= seed < 5
            return super().reset(seed=seed, options=options)

    demo = bp.record(Levels(8), [1] * 6, seed=4)
    assert bp.check(Levels(8), demo).exact


def test_exporting_does_not_import_what_a_file_names(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "evil_module.py").write_text("raise SystemExit('imported')")
    demo = bp.record(mountaincar(), climb, seed=7)
    object.__setattr__(demo, "env_id", "evil_module:MountainCar-v0")
    with pytest.raises(bp.BackplayError, match="not registered"):
        bp.minari.to_minari([demo], "test/evil-v0")


def test_a_fresh_clock_is_refused_where_the_observation_shows_the_old_one():
    def make() -> gym.Env:
        return TimeAwareObservation(mountaincar())

    demo = bp.record(make(), climb, seed=7)
    with pytest.raises(bp.BackplayError, match="TimeAwareObservation"):
        bp.BackplayEnv(make(), [demo], bp.Uniform(), time_limit="fresh")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: bp.record(mountaincar(), [0, 1], seed=None),
        lambda: bp.record(mountaincar(), 5),
        lambda: bp.record(mountaincar(), [0, 1]).snapshot(99),
        lambda: bp.record(mountaincar(), [0, 1]).snapshot(-1),
        lambda: bp.BackplayEnv(
            mountaincar(), [bp.record(mountaincar(), [0, 1])], bp.Uniform()
        ).reset(seed=-1),
    ],
)
def test_every_error_is_ours(wrong):
    with pytest.raises(bp.BackplayError):
        wrong()
