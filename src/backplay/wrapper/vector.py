"""All workers of a vector env at once: their curriculum, their episodes, where they stand.

Comes in: a BackplayEnv, a vector env of such, or a list of them. Goes out: a curriculum to each,
finished episodes back. Does not know: how episodes start.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import gymnasium as gym
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from backplay.curricula import Curriculum
from backplay.data import trees
from backplay.errors import BackplayError, refusing, show
from backplay.records import Episode
from backplay.restore.rollout import AnyEnv


class BackplayVector(SyncVectorEnv[Any, Any]):
    """BackplayEnvs stepped one after another; an episode that ends begins anew in the same step.

    With ResumableBackplayEnvs inside, the whole vector can be resumed, if wrappers around them hold
    nothing from one step to the next.
    """

    def __init__(self, make: Sequence[Callable[[], AnyEnv]]) -> None:
        super().__init__(make, autoreset_mode=AutoresetMode.SAME_STEP)

    def observe(self) -> Any:
        """What is seen now in all of them."""
        return copy.deepcopy(self._observations)

    def get_state(self) -> dict[str, Any]:
        """Everything but the curriculum, as plain data: with it, a vector goes on exactly."""
        return {"envs": list(self.call("get_state")), "observations": self.observe()}

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from `get_state()` of a vector made alike, under the curriculum it has now."""
        with refusing(
            "This state is of another vector",
            f"{self.num_envs} envs of {self.single_observation_space}",
        ):  # fmt: skip
            states, observations = list(state["envs"]), state["observations"]
            now = trees.copy(self._observations)
            if len(states) != self.num_envs or _form(observations) != _form(now):
                raise ValueError(f"{len(states)} envs that see {_form(observations)}")
        for env, one in zip(self.envs, states, strict=True):
            env.get_wrapper_attr("set_state")(one)
        self._observations = trees.copy(observations)


def _form(tree: Any) -> Any:
    """The keys, shapes and dtypes of observations."""
    if isinstance(tree, dict):
        return {key: _form(part) for key, part in tree.items()}
    if isinstance(tree, list | tuple):
        return [_form(part) for part in tree]
    return str(tree.dtype), tuple(tree.shape)


def advance(envs: Any, curriculum: Curriculum, frames: int) -> tuple[Curriculum, list[Episode]]:
    """Moves the curriculum on, gives it to every worker; returns it and the finished episodes.

    Args:
        envs: a BackplayEnv, wrapped or not; a Gymnasium vector env or a Stable-Baselines3 VecEnv of
            such; or a list of them.
        curriculum: the present curriculum.
        frames: total frames of training so far.
    """
    episodes = take_episodes(envs)
    moved = curriculum.update(episodes, frames)
    set_curriculum(envs, moved)
    return moved, episodes


def take_episodes(envs: Any) -> list[Episode]:
    """The episodes that finished in all workers since the last call; `envs` as for `advance`.

    With `set_curriculum`, for trainers whose envs live in processes that are reached one by one.
    """
    return [episode for taken in _call(envs, "take_episodes") for episode in taken]


def set_curriculum(envs: Any, curriculum: Curriculum) -> None:
    """Gives every worker this curriculum; `envs` as for `advance`."""
    _call(envs, "set_curriculum", curriculum)


def _call(envs: Any, name: str, *args: Any) -> list[Any]:
    """The results of calling a method of BackplayEnv in every worker of `envs`."""
    if isinstance(envs, list | tuple):
        return [result for env in envs for result in _call(env, name, *args)]
    if isinstance(envs, gym.Env) and envs.has_wrapper_attr(name):
        return [envs.get_wrapper_attr(name)(*args)]
    if hasattr(envs, "env_method"):  # Stable-Baselines3
        return list(envs.env_method(name, *args))
    if isinstance(envs, gym.vector.VectorWrapper):  # does not pass `call` on
        return _call(envs.env, name, *args)
    if hasattr(envs, "call"):  # gymnasium.vector
        return list(envs.call(name, *args))
    raise BackplayError(
        "envs", expected="a BackplayEnv, a vector env of such or a list of them", got=show(envs),
        do="Pass the env your trainer steps.",
    )  # fmt: skip
