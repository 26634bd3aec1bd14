"""Environments by their ids."""

from importlib import util
from typing import Any

import gymnasium as gym
import pytest

import backplay as bp
from backplay import extras
from backplay.train.environments import kwargs_for, make_env, parse_env_kwargs
from backplay.train.own_envs import on_my_word


@pytest.mark.parametrize(
    "env_id",
    [
        "CartPole-v1",
        "MiniGrid-Empty-5x5-v0",
        "ALE/Freeway-v5",
        "roundabout-v0",
        "minigrid:MiniGrid-Empty-5x5-v0",
    ],
)
def test_environments_of_installed_packages_are_found(env_id: str) -> None:
    env = make_env(env_id)
    assert env.spec.id == env_id.rpartition(":")[2]
    env.close()


def test_an_id_without_a_version_means_the_latest() -> None:
    spec = make_env("CartPole").spec
    assert spec.id == "CartPole-v1"


@pytest.mark.parametrize(
    ("env_id", "meant"),
    [
        ("MountainCra-v0", "MountainCar-v0"),
        ("mountaincar-v0", "MountainCar-v0"),
        ("MountainCar-v9", "MountainCar-v0"),
        ("LunarLander-v2", "LunarLander-v3"),
        ("MiniGrid-DoorKy-8x8-v0", "MiniGrid-DoorKey-8x8-v0"),
        ("ALE/Freewya-v5", "ALE/Freeway-v5"),
        ("gymnasium:CartPol-v1", "CartPole-v1"),
    ],
)
def test_an_unknown_id_is_answered_with_the_one_that_was_meant(env_id: str, meant: str) -> None:
    with pytest.raises(bp.BackplayError, match=rf"Did you mean .*{meant}"):
        make_env(on_my_word(env_id))


def test_an_id_like_no_other_is_answered_with_where_to_look() -> None:
    with pytest.raises(bp.BackplayError, match="pprint_registry"):
        make_env(on_my_word("Qwertzuiop-v0"))


def test_a_module_that_is_not_there() -> None:
    with pytest.raises(bp.BackplayError, match="No module named 'nowhere'"):
        make_env(on_my_word("nowhere:Env-v0"))


@pytest.mark.parametrize(
    ("env_id", "extra"),
    [("MiniGrid-New-v0", "minigrid"), ("ALE/New-v5", "atari"), ("highway-new-v0", "highway")],
)
def test_a_missing_package_is_answered_with_its_extra(
    env_id: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(bp.BackplayError, match=rf'pip install "backplay\[{extra}\]"'):
        make_env(env_id)
    assert util.find_spec("gymnasium") is not None


def test_a_missing_dependency_of_gymnasium_is_answered_with_its_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def make(*args: Any, **kwargs: Any) -> None:
        raise gym.error.DependencyNotInstalled("Box2D is not installed")

    monkeypatch.setattr(gym, "make", make)
    with pytest.raises(bp.BackplayError, match=r"Box2D is not installed.*backplay\[box2d\]"):
        make_env("LunarLander-v3")


@pytest.mark.parametrize("text", ["{", "[1]", "3", '"text"', "{'a': 1}"])
def test_arguments_that_are_no_json_object(text: str) -> None:
    with pytest.raises(bp.BackplayError, match="--env-kwargs"):
        parse_env_kwargs(text)


def test_arguments_that_the_env_does_not_take() -> None:
    with pytest.raises(bp.BackplayError, match=r"(?s)FrozenLake-v1 cannot be made.*slipery"):
        make_env("FrozenLake-v1", {"slipery": False})


def test_a_demonstration_brings_its_arguments() -> None:
    env = gym.make("FrozenLake-v1", is_slippery=False, render_mode="ansi")
    demo = bp.record(env, [2, 2])
    assert kwargs_for("FrozenLake-v1", None, demo) == {"is_slippery": False}
    assert kwargs_for("FrozenLake-v1", '{"map_name": "8x8"}', demo) == {"map_name": "8x8"}
    assert kwargs_for("CartPole-v1", None, demo) == {}
