"""Restoring puts states back, never settings: another env is refused by name, or kept as it is."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

import backplay as bp
from backplay.errors import DemonstrationError


class World:
    """What an env may hold its settings and its state in."""

    def __init__(self, drift: float) -> None:
        self.drift, self.total = drift, 0.0


class Tuned(gym.Env[Any, Any]):
    """A corridor with settings in attributes, in a dict and in an object, and a state beside them.

    `has_key` stays False in the shortest way, though it is a state.
    """

    def __init__(
        self,
        slip: float = 0.0,
        max_steps: int = 300,
        noise: float | None = None,
        drift: float = 0.0,
        gains: tuple[float, float] = (1.0, 1.0),
    ) -> None:
        self.observation_space = spaces.Box(-1e6, 1e6, (3,), np.float32)
        self.action_space = spaces.Discrete(3)
        self.slip, self.max_steps, self.noise = slip, max_steps, noise
        self.options_of = {"gains": gains}
        self.world = World(drift)
        self.place, self.count, self.has_key = 0, 0, False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.place, self.count, self.has_key = 0, 0, False
        self.world.total = 0.0
        return self.see(), {}

    def step(self, action: Any) -> Any:
        self.count += 1
        self.world.total += 1.0 + self.world.drift
        if action == 2:
            self.has_key = True
        elif self.np_random.random() >= self.slip:
            self.place = max(0, self.place + (1 if action else -1))
        done = self.place >= 6
        return self.see(), float(done), done, self.count >= self.max_steps, {}

    def see(self) -> Any:
        return np.array([self.place, self.count, self.has_key], np.float32)


class StuckTuned(Tuned):
    """One whose state is no plain data, so that it takes deep copies."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.items = [World(0.0)]


KINDS: list[type[Tuned]] = [Tuned, StuckTuned]


def recorded(kind: type[Tuned] = Tuned, **kwargs: Any) -> bp.Demonstration:
    return bp.record(kind(**kwargs), lambda _: 1, seed=3)


def held(env: gym.Env[Any, Any]) -> dict[str, Any]:
    base: Any = env.unwrapped
    return {
        "slip": base.slip, "max_steps": base.max_steps, "noise": base.noise,
        "drift": base.world.drift, "gains": base.options_of["gains"],
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_an_env_with_other_settings_is_refused_by_their_names(kind: type[Tuned]) -> None:
    demo = recorded(kind)
    with pytest.raises(DemonstrationError) as caught:
        bp.BackplayEnv(kind(slip=0.5, max_steps=1000), [demo], bp.Uniform())
    said = str(caught.value)
    for words in ("other settings", "slip=0.5", "slip=0.0", "max_steps=1000", 'settings="mine"'):
        assert words in said
    with pytest.raises(DemonstrationError, match=r"slip=0\.5"):
        bp.check(kind(slip=0.5), demo)


def test_settings_inside_an_object_beside_its_state_are_seen() -> None:
    with pytest.raises(DemonstrationError, match=r"world\.drift=0\.25, as this env has it"):
        bp.check(Tuned(drift=0.25), recorded())


@pytest.mark.parametrize("kind", KINDS)
def test_mine_keeps_the_settings_of_the_env_whatever_is_restored(kind: type[Tuned]) -> None:
    demo = recorded(kind)
    inside = kind(slip=0.5, max_steps=1000)
    env = bp.BackplayEnv(inside, [demo], bp.Uniform(), settings="mine")
    for seed in range(5):
        seen, _ = env.reset(seed=seed, options={"start": (0, 4)})
        assert (inside.slip, inside.max_steps, inside.place) == (0.5, 1000, 4)
        assert seen.tolist() == [4, 4, 0]
        env.step(2)
        assert inside.has_key  # a state that never changed in the recording: it is put back
    env.reset(options={"start": (0, 2)})
    assert not inside.has_key
    assert demo.states == recorded(kind).states or kind is StuckTuned  # it is not changed itself


values = st.fixed_dictionaries(
    {},
    optional={
        "slip": st.sampled_from([0.0, 0.1]),
        "max_steps": st.sampled_from([200, 300]),
        "noise": st.sampled_from([None, 0.5]),
        "drift": st.sampled_from([0.0, -0.5]),
        "gains": st.sampled_from([(1.0, 1.0), (1.0, 2.0)]),
    },
)


@settings(max_examples=40, deadline=None)
@given(values, values, st.integers(1, 5))
def test_no_restore_ever_changes_a_setting(
    there: dict[str, Any], here: dict[str, Any], step: int
) -> None:
    demo = recorded(**there)
    env = Tuned(**here)
    before = held(env)
    if before == held(Tuned(**there)):
        assert bp.check(env, demo).exact
    else:
        with pytest.raises(DemonstrationError, match="other settings"):
            demo.fit(env)
    fitted = demo.fit(env, "mine")
    fitted.restore(env, step, np.random.default_rng(0))
    assert held(env) == before
    assert env.count == step


def test_training_and_checking_take_the_word_too() -> None:
    demo = recorded()
    report = bp.check(Tuned(max_steps=1000), demo, settings="mine")
    assert report.exact
    slips = bp.check(Tuned(slip=0.9), demo, settings="mine", must_be_exact=False)
    assert not slips.exact
    with pytest.raises(bp.BackplayError, match="'recorded' or 'mine'"):
        demo.fit(Tuned(), "yours")


def test_a_registered_env_with_other_arguments_is_kept_on_request() -> None:
    demo = bp.record(gym.make("FrozenLake-v1", is_slippery=False), [2, 2, 1, 1, 1, 2])
    slippery = gym.make("FrozenLake-v1", is_slippery=True)
    with pytest.raises(DemonstrationError, match="another setting"):
        bp.BackplayEnv(slippery, [demo], bp.Uniform())
    table = slippery.unwrapped.P
    env = bp.BackplayEnv(slippery, [demo], bp.Uniform(), settings="mine")
    env.reset(seed=0, options={"start": (0, 3)})
    assert table == slippery.unwrapped.P
    assert len(table[0][0]) == 3  # it slips still


def test_a_replay_cannot_keep_other_settings() -> None:
    demo = bp.record(Tuned(), lambda _: 1, seed=3, restorer="replay")
    with pytest.raises(DemonstrationError, match="does not go with a replay"):
        demo.fit(Tuned(), "mine")


@pytest.fixture
def registered() -> Any:
    gym.register("Tuned-v0", entry_point=Tuned, max_episode_steps=50)
    yield "Tuned-v0"
    del gym.registry["Tuned-v0"]


def test_a_class_and_its_id_take_each_others_demonstrations(
    registered: str, tmp_path: Path
) -> None:
    """They differ by what `gym.make` wraps around: a limit of steps, and watchers."""
    by_class, by_id = recorded(), bp.record(gym.make(registered), lambda _: 1, seed=3)
    for demo, make in ((by_class, lambda: gym.make(registered)), (by_id, Tuned)):
        demo.save(tmp_path / "demo.npz")
        env = make()
        assert bp.check(env, bp.load(tmp_path / "demo.npz")).exact
        wrapped = bp.BackplayEnv(env, [demo], bp.Uniform())
        wrapped.reset(seed=0, options={"start": (0, 4)})
        assert env.unwrapped.place == 4
    env = gym.make(registered)
    by_class.fit(env).restore(env, 4)
    assert env.get_wrapper_attr("_elapsed_steps") == 4
    with pytest.raises(DemonstrationError, match="slip"):
        bp.check(gym.make(registered, slip=0.5), by_class)
