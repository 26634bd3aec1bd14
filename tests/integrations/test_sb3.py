"""The callback under Stable-Baselines3: on- and off-policy, one env and vectors, resumed."""

import io
import warnings
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from stable_baselines3 import DQN, PPO, SAC
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import Logger, configure
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize

import backplay as bp
from backplay.demos.doubts import BackplayWarning
from backplay.integrations.sb3 import curriculum_of
from backplay.records import Episode
from backplay.restore import Replay


def cartpole() -> gym.Env:
    return gym.make("CartPole-v1")


@pytest.fixture(scope="module")
def demo() -> bp.Demonstration:
    return bp.record(cartpole(), lambda o: int(o[2] + o[3] > 0), seed=3, max_steps=100)


WINDOWS = (bp.Window(0, 0, 10), bp.Window(300, 10, 50), bp.Window(600, 100, 100))
CURRICULUM = bp.TrueStarts(bp.Backplay(WINDOWS), 0.25, by_frames=False)


def wrapped(demo: bp.Demonstration) -> bp.BackplayEnv:
    return bp.BackplayEnv(cartpole(), [demo], CURRICULUM)


class Spy(bp.sb3.CurriculumCallback):
    """Remembers what was given to the workers, and what was logged."""

    def __init__(self) -> None:
        super().__init__(every=1)
        self.given: list[tuple[int, list[bp.Curriculum]]] = []
        self.logged: dict[str, list[float]] = {}
        self.all_episodes: list[Episode] = []

    def _advance(self) -> None:
        super()._advance()
        self.given.append((self.num_timesteps, self.training_env.get_attr("curriculum")))
        self.all_episodes += self.episodes

    def _log(self, frames: int) -> None:
        super()._log(frames)
        for name, value in self.logger.name_to_value.items():
            if name.startswith("backplay/"):
                self.logged.setdefault(name, []).append(value)


def weights(model: DQN | SAC) -> np.ndarray:
    """Of the policy, in one row."""
    return np.concatenate([part.detach().numpy().ravel() for part in model.policy.parameters()])


def quiet() -> Logger:
    return configure(None, [])


def check_moved(spy: Spy, workers: int) -> None:
    frames, given = spy.given[-1]
    assert frames >= 600
    assert len(given) == workers
    assert all(c == spy.curriculum for c in given)
    assert all(c.frames == frames and c.inner.window.lo == 100 for c in given)
    windows = [curricula[0].inner.window for _, curricula in spy.given]
    assert windows[0] == WINDOWS[0]
    assert WINDOWS[1] in windows
    steps = {e.start.step for e in spy.all_episodes if e.start}
    assert 0 in steps
    assert len(steps) > 1
    assert "backplay/true_start" in spy.logged
    assert "backplay/success_from_80%" in spy.logged
    assert spy.logged["backplay/frames"][-1] == frames


@pytest.mark.parametrize(
    "make",
    [
        lambda demo: wrapped(demo),
        lambda demo: DummyVecEnv([lambda: wrapped(demo)] * 2),
        lambda demo: VecNormalize(DummyVecEnv([lambda: wrapped(demo)] * 2)),
        pytest.param(
            lambda demo: SubprocVecEnv([lambda: wrapped(demo)] * 2), marks=pytest.mark.slow
        ),
    ],
    ids=["one env", "dummy", "normalised", "subproc"],
)
def test_ppo_moves_the_curriculum_of_every_worker(demo, make):
    spy = Spy()
    model = PPO("MlpPolicy", make(demo), n_steps=64, batch_size=64, n_epochs=1, seed=0)
    model.set_logger(quiet())
    model.learn(700, callback=spy)
    check_moved(spy, model.n_envs)
    model.env.close()


def test_make_vec_env_puts_a_monitor_inside(demo):
    settings = {"demos": [demo], "curriculum": CURRICULUM}
    vector = make_vec_env(
        "CartPole-v1", 2, seed=0, wrapper_class=bp.BackplayEnv, wrapper_kwargs=settings
    )
    spy = Spy()
    model = PPO("MlpPolicy", vector, n_steps=64, batch_size=64, n_epochs=1, seed=0)
    model.set_logger(quiet())
    model.learn(700, callback=spy)
    check_moved(spy, 2)
    told = {(episode.length, episode.total_reward) for episode in spy.all_episodes}
    assert {(one["l"], one["r"]) for one in model.ep_info_buffer} <= told


def test_dqn_moves_it(demo):
    spy = Spy()
    model = DQN("MlpPolicy", wrapped(demo), learning_starts=100, seed=0)
    before = weights(model)
    model.set_logger(quiet())
    model.learn(700, callback=spy)
    check_moved(spy, 1)
    assert model._n_updates == 150  # one in four steps after the first hundred
    assert not np.array_equal(weights(model), before)


def test_off_policy_algorithms_do_not_update_at_every_step(demo):
    counts = {}
    for every in (1, 200):
        spy = Spy()
        spy.every = every
        model = DQN("MlpPolicy", wrapped(demo), learning_starts=10_000, seed=0)
        model.set_logger(quiet())
        model.learn(1000, callback=spy)
        counts[every] = len(spy.given)
    assert counts[1] > 200
    assert counts[200] <= 7


def test_the_curriculum_moves_within_a_rollout(demo):
    spy = Spy()
    spy.every = 100
    model = PPO("MlpPolicy", wrapped(demo), n_steps=1024, batch_size=64, n_epochs=1, seed=0)
    model.learn(1024, callback=spy)
    moved = [frames for frames, given in spy.given if given[0].inner.window != WINDOWS[0]]
    assert moved[0] < 500  # the second window opens at frame 300, the rollout ends at 1024


def test_sac_on_a_continuous_env():
    env = gym.make("Pendulum-v1")
    swing = bp.record(env, lambda o: np.array([2.0 * np.sign(o[2])], np.float32), seed=0)
    start = bp.Backplay((bp.Window(0, 0, 20), bp.Window(300, 200, 200)))
    callback = bp.sb3.CurriculumCallback(every=1)
    model = SAC(
        "MlpPolicy", bp.BackplayEnv(env, [swing], start), learning_starts=340, batch_size=16, seed=0
    )
    before = weights(model)
    model.learn(400, callback=callback)
    assert callback.curriculum.window.lo == 200
    assert model._n_updates == 60  # one a step once it has begun
    assert not np.array_equal(weights(model), before)


def test_the_curriculum_is_saved_with_the_model_and_goes_on(demo, tmp_path):
    model = PPO("MlpPolicy", wrapped(demo), n_steps=64, batch_size=64, n_epochs=1, seed=0)
    model.learn(320, callback=bp.sb3.CurriculumCallback())
    model.save(tmp_path / "model")
    loaded = PPO.load(tmp_path / "model", env=wrapped(demo))
    assert curriculum_of(loaded).frames == 320
    spy = Spy()
    loaded.set_logger(quiet())
    loaded.learn(128, callback=spy, reset_num_timesteps=False)
    assert spy.given[0][1][0].inner.window == WINDOWS[1]  # not the first again
    assert spy.curriculum.frames == 448
    # learn() counts from zero again by default; the curriculum's clock does not.
    again = bp.sb3.CurriculumCallback()
    loaded.learn(256, callback=again)
    assert again.curriculum.frames == 448 + 256


def test_another_curriculum_given_to_a_trained_model_counts(demo):
    model = PPO("MlpPolicy", wrapped(demo), n_steps=64, batch_size=64, n_epochs=1, seed=0)
    model.learn(192, callback=bp.sb3.CurriculumCallback(every=64))
    model.set_env(DummyVecEnv([lambda: bp.BackplayEnv(cartpole(), [demo], bp.Backplay(WINDOWS))]))
    callback = bp.sb3.CurriculumCallback(every=1)
    with pytest.warns(UserWarning, match="TrueStarts around Backplay, its env has Backplay"):
        model.learn(64, callback=callback, reset_num_timesteps=False)
    assert callback.curriculum.window == WINDOWS[0]  # its clock begins
    assert 64 <= callback.curriculum.frames < 192
    assert curriculum_of(model) == callback.curriculum


def test_so_does_another_one_inside_the_same_piece(demo):
    model = PPO("MlpPolicy", wrapped(demo), n_steps=64, batch_size=64, n_epochs=1, seed=0)
    model.learn(64, callback=bp.sb3.CurriculumCallback())
    inside = bp.TrueStarts(bp.Frontier(), 0.25)
    model.set_env(DummyVecEnv([lambda: bp.BackplayEnv(cartpole(), [demo], inside)]))
    callback = bp.sb3.CurriculumCallback()
    with pytest.warns(UserWarning, match="its env has TrueStarts around Frontier"):
        model.learn(64, callback=callback)
    assert isinstance(callback.curriculum.inner, bp.Frontier)


def trained(demo, curriculum):
    model = PPO("MlpPolicy", bp.BackplayEnv(cartpole(), [demo], curriculum), n_steps=64, seed=0)
    model.learn(128, callback=bp.sb3.CurriculumCallback())
    return model


def in_force(model, demo, curriculum):
    """The curriculum that a saved model goes on with in a new env."""
    file = io.BytesIO()
    model.save(file)
    callback = bp.sb3.CurriculumCallback()
    again = PPO.load(file, env=bp.BackplayEnv(cartpole(), [demo], curriculum))
    again.learn(64, callback=callback)
    return callback.curriculum


def test_other_settings_given_to_a_trained_model_count(demo):
    model = trained(demo, bp.Frontier())
    with pytest.warns(BackplayWarning, match=r"cut=null.*its env has cut=9.0, start_share=0.9"):
        found = in_force(model, demo, bp.Frontier(start_share=0.9, cut=9))
    assert (found.start_share, found.cut) == (0.9, 9)
    assert found.frames == 64
    slow = bp.TrueStarts(bp.Backplay((*WINDOWS[:-1], bp.Window(50_000, 100, 100))), 0.25)
    with pytest.warns(BackplayWarning, match=r"windows=.*600.*, its env has .*50000"):
        found = in_force(trained(demo, bp.TrueStarts(bp.Backplay(WINDOWS), 0.25)), demo, slow)
    assert found.inner == replace(slow.inner, frames=64)


def test_so_do_demonstrations_of_other_lengths(demo):
    model = trained(demo, bp.Frontier())
    short = bp.record(cartpole(), lambda o: int(o[2] + o[3] > 0), seed=3, max_steps=50)
    with pytest.warns(BackplayWarning, match=r"of \[100\] steps, its env has such of \[50\]"):
        assert in_force(model, short, bp.Frontier()).frames == 64


def test_the_same_settings_go_on_in_silence(demo):
    model = trained(demo, bp.Frontier(cut=3))
    with warnings.catch_warnings():
        warnings.simplefilter("error", BackplayWarning)
        assert in_force(model, demo, bp.Frontier(cut=3)).frames == 192
        assert in_force(model, demo, curriculum_of(model)).frames == 192
        callback = bp.sb3.CurriculumCallback()
        for _ in range(2):  # the env has by then what the model has
            model.learn(64, callback=callback)
        assert callback.curriculum.frames == 256


def test_steps_spent_on_replaying_count(demo):
    replayed = bp.record(
        cartpole(), lambda o: int(o[2] + o[3] > 0), seed=3, max_steps=100, restorer=Replay()
    )
    callback = bp.sb3.CurriculumCallback()
    env = bp.BackplayEnv(cartpole(), [replayed], bp.Until(bp.Uniform(), at=10**6))
    PPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=0).learn(64, callback)
    assert env.restored_steps > 0
    assert callback.curriculum.frames == 64 + env.restored_steps


def test_a_model_without_the_wrapper_is_told_so():
    with pytest.raises(bp.BackplayError, match="Wrap each env"):
        PPO("MlpPolicy", cartpole()).learn(10, callback=bp.sb3.CurriculumCallback())
    with pytest.raises(bp.BackplayError, match="no curriculum"):
        curriculum_of(PPO("MlpPolicy", cartpole()))
    with pytest.raises(bp.BackplayError, match=r"callback=\.\.\."):
        _ = bp.sb3.CurriculumCallback().curriculum


def test_evaluate_shows_a_model_what_its_normaliser_showed_it(
    demo: bp.Demonstration, monkeypatch: pytest.MonkeyPatch
) -> None:
    envs = VecNormalize(DummyVecEnv([cartpole]))
    envs.obs_rms.mean[:] = 3
    model = PPO("MlpPolicy", envs, n_steps=64, device="cpu")
    seen: list[np.ndarray] = []
    predict = model.predict

    def spy(observations: np.ndarray, **how: bool) -> object:
        seen.append(observations)
        return predict(observations, **how)

    monkeypatch.setattr(model, "predict", spy)
    bp.evaluate(cartpole, model, demos=demo, episodes=1, seed=5)
    np.testing.assert_allclose(seen[0], [cartpole().reset(seed=5)[0] - 3], atol=1e-4)
