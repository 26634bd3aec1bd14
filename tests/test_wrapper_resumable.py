"""ResumableBackplayEnv: brought back in mid-episode, to the bit, or refused."""

from __future__ import annotations

import functools
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

import backplay as bp
import envs_for_tests as envs
from backplay.data import trees
from backplay.records import Start
from backplay.wrapper import BackplayVector, ResumableBackplayEnv
from resumption import through_files

RESTORERS = ("attributes", "deepcopy", "replay")


def slippery() -> Any:
    return TimeLimit(envs.Corridor(9, slip=0.3), 50)


@functools.cache
def demo(restorer: str) -> bp.Demonstration:
    way = bp.restore.RESTORERS[restorer]()
    return bp.record(slippery(), lambda _: 1, seed=4, max_steps=20, restorer=way)


def make(restorer: str = "attributes", **options: Any) -> ResumableBackplayEnv:
    return ResumableBackplayEnv(
        slippery(), [demo(restorer)], bp.Patience(bp.Uniform(), 2.0), **options
    )


def play(env: Any, steps: int, seed: int) -> list[Any]:
    """What so many random actions come to, resets included."""
    answers: list[Any] = []
    for action in np.random.default_rng(seed).integers(2, size=steps):
        answer = env.step(action)
        answers.append((*answer[:4], env.start))
        if answer[2] or answer[3]:
            answers.append((env.reset()[0], env.start))
    return answers


@pytest.mark.parametrize("restorer", RESTORERS)
@pytest.mark.parametrize("rng", ["reseed", "restore"])
@pytest.mark.parametrize("initial", ["reset", "demonstration"])
def test_it_goes_on_to_the_bit(restorer: str, rng: Any, initial: Any) -> None:
    options = {"rng": rng, "initial": initial, "time_limit": "fresh"}
    whole = make(restorer, **options)
    whole.reset(seed=5)
    for steps in (0, 3, 40):
        play(whole, steps, seed=steps)
        state = through_files(whole.get_state())
        again = make(restorer, **options)
        again.set_state(state)
        assert again.restored_steps == whole.restored_steps
        assert trees.first_difference(play(again, 60, 1), play(whole, 60, 1)) is None
        assert again.take_episodes() == whole.take_episodes()
        assert again.take_restored_steps() == whole.take_restored_steps()
        assert trees.first_difference(again.get_state(), whole.get_state()) is None


@pytest.mark.parametrize("ended", [True, False])
def test_what_is_cut_outside_after_a_resumption_is_told_once(ended: bool) -> None:
    def build() -> ResumableBackplayEnv:
        demo = bp.record(envs.Corridor(9), lambda _: 1, seed=4)
        return ResumableBackplayEnv(envs.Corridor(9), [demo], bp.Standard())

    whole, again = build(), build()
    whole.reset(seed=5, options={"start": Start(0, 7)})
    for action in (1, 1) if ended else (0, 1, 0):
        whole.step(action)
    assert len(whole.take_episodes()) == ended
    again.set_state(through_files(whole.get_state()))
    whole.reset()
    again.reset()
    told = whole.take_episodes()
    assert [(e.length, e.success) for e in told] == ([] if ended else [(3, False)])
    assert again.take_episodes() == told


class Tiring(gym.Wrapper):
    """Pays less with every step of its life, and a little by chance: it outlives episodes."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.life, self.luck = 0, np.random.default_rng(3)

    def step(self, action: Any) -> Any:
        seen, reward, *rest = super().step(action)
        self.life += 1
        return seen, float(reward) - self.life + self.luck.random(), *rest


def test_what_a_wrapper_keeps_over_many_episodes_comes_back() -> None:
    def tired() -> ResumableBackplayEnv:
        return ResumableBackplayEnv(Tiring(slippery()), [tired_demo], bp.Standard())

    tired_demo = bp.record(Tiring(slippery()), lambda _: 1, seed=4, max_steps=20)
    whole = tired()
    whole.reset(seed=5)
    play(whole, 70, seed=1)
    again = tired()
    again.set_state(through_files(whole.get_state()))
    assert trees.first_difference(play(again, 60, 1), play(whole, 60, 1)) is None


def test_an_env_in_use_goes_back_too() -> None:
    env = make()
    env.reset(seed=5)
    play(env, 7, seed=1)
    state = env.get_state()
    first = play(env, 50, seed=2)
    env.set_state(state)
    assert trees.first_difference(play(env, 50, seed=2), first) is None


def test_a_start_and_options_that_were_asked_for_come_back() -> None:
    def levels() -> ResumableBackplayEnv:
        demo = bp.record(envs.Levels(), lambda _: 1, options={"level": 4})
        return ResumableBackplayEnv(envs.Levels(), [demo], bp.Uniform())

    env, again = levels(), levels()
    env.reset(seed=1, options={"level": 9, "start": Start(0, 0)})
    env.step(1)
    again.set_state(through_files(env.get_state()))
    assert again.start == Start(0, 0)
    assert again.unwrapped.length == 9


def test_only_the_resumable_one_seeds_the_envs_own_resets() -> None:
    plain, wrapped = slippery(), bp.BackplayEnv(slippery(), [demo("attributes")], bp.Standard())
    resumable = ResumableBackplayEnv(slippery(), [demo("attributes")], bp.Standard())
    told = [play_plain(env) for env in (plain, wrapped, resumable)]
    assert told[0] == told[1]
    assert told[0] != told[2]
    assert not hasattr(wrapped, "get_state")


def play_plain(env: Any) -> list[float]:
    env.reset(seed=3)
    places = []
    for _ in range(120):
        observation, _, terminated, truncated, _ = env.step(1)
        places.append(float(observation[0]))
        if terminated or truncated:
            env.reset()
    return places


def test_actions_are_remembered_as_they_were_given() -> None:
    """Some envs scale the action they are given in place."""

    def build() -> ResumableBackplayEnv:
        short = TimeLimit(envs.ReusedArrays(), 30)
        demo = bp.record(short, [np.ones(2)] * 3, seed=1)
        return ResumableBackplayEnv(TimeLimit(envs.ReusedArrays(), 30), [demo], bp.Uniform())

    env, again = build(), build()
    env.reset(seed=1)
    for _ in range(3):
        env.step(np.array([0.5, -0.25]))
    state = through_files(env.get_state())
    again.set_state(state)
    action = np.array([0.1, 0.2])
    expected = env.step(action.copy())[0].copy()
    np.testing.assert_array_equal(again.step(action.copy())[0], expected)


@pytest.mark.parametrize("what", ["actions", "seed", "stream", "observation", "total_reward"])
def test_another_place_is_refused(what: str) -> None:
    env = ResumableBackplayEnv(slippery(), [demo("attributes")], bp.Standard())
    env.reset(seed=5)
    for action in (1, 1, 0, 1):
        env.step(action)
    state = through_files(env.get_state())
    if what == "actions":
        state["recipe"]["actions"] = [1, 1, 0, 0]
    elif what == "seed":
        state["recipe"]["seed"] += 1
    elif what == "stream":
        state["recipe"]["stream"] = through_files(make().get_state())["here"]["own stream"]
    else:
        state["here"][what] = state["here"][what] + 1
    with pytest.raises(bp.BackplayError) as error:
        make().set_state(state)
    assert str(error.value).startswith("Corridor did not come back to where it stood")


@pytest.mark.parametrize(
    "damage",
    [
        {"recipe": {}}, {"recipe": 7}, {"here": {}}, {"finished": [[1]]}, {"walked": None},
        {"restored_steps": "many"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_state_is_refused(damage: dict[str, Any]) -> None:
    env = make()
    env.reset(seed=1)
    with pytest.raises(bp.BackplayError, match="of another BackplayEnv"):
        make().set_state({**env.get_state(), **damage})


def vector(n: int = 3, make_one: Any = make) -> BackplayVector:
    return BackplayVector([make_one] * n)


def test_a_vector_sees_what_it_saw() -> None:
    whole, again = vector(), vector()
    whole.reset(seed=1)
    actions = np.random.default_rng(0).integers(2, size=(80, 3))
    for row in actions[:40]:
        seen = whole.step(row)[0]
    again.set_state(through_files(whole.get_state()))
    np.testing.assert_array_equal(again.observe(), seen)
    for row in actions[40:]:
        assert trees.first_difference(again.step(row)[:4], whole.step(row)[:4]) is None


def test_a_state_of_another_vector_is_refused() -> None:
    whole = vector()
    whole.reset(seed=1)
    state = whole.get_state()
    for other in ({"envs": []}, {"observations": np.zeros((3, 5))}, {"observations": None}):
        with pytest.raises(bp.BackplayError, match="of another vector"):
            vector().set_state({**state, **other})
    with pytest.raises(bp.BackplayError, match="of another vector"):
        vector(2).set_state(state)


def test_a_vector_of_plain_ones_cannot_say_where_it_stands() -> None:
    plain = vector(1, lambda: bp.BackplayEnv(gym.make("CartPole-v1"), [pole()], bp.Uniform()))
    plain.reset(seed=1)
    with pytest.raises(AttributeError):
        plain.get_state()


@functools.cache
def pole() -> bp.Demonstration:
    return bp.record(gym.make("CartPole-v1"), [0, 1] * 4, seed=1)
