"""A rollout: a seed, the actions, and what the environment answered, step by step.

`roll` makes one; `replay` repeats its actions and names the first answer that differs. This module
knows neither states nor curricula.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from backplay.data import trees
from backplay.errors import BackplayError, ensure, show

AnyEnv = gym.Env[Any, Any]
Policy = Callable[[Any], Any]
"""A function from an observation to an action."""


@runtime_checkable
class Model(Protocol):
    """What has a `predict` as Stable-Baselines3's models have it: actions, and a memory or None."""

    def predict(self, observation: Any, /, *, deterministic: bool) -> Any:
        """An action for one observation, or actions for a batch."""


def predicted(model: Model, seen: Any, *, deterministic: bool = False) -> Any:
    """What a model does, if it needs no memory of what was before."""
    normalised = getattr(model, "get_vec_normalize_env", lambda: None)()  # Stable-Baselines3's
    if normalised is not None:
        seen = normalised.normalize_obs(seen)
    answer = model.predict(seen, deterministic=deterministic)
    name = type(model).__name__
    ensure(
        isinstance(answer, tuple) and len(answer) == 2, f"predict of {name}",
        "actions and a memory, or None, as Stable-Baselines3's models return", answer,
        do="Pass a function from observation to action.",
    )  # fmt: skip
    ensure(
        answer[1] is None, "agent", "a policy without a memory", got=name,
        do="Play its episodes in a loop of your own, as examples/sb3_recurrent.py does.",
    )  # fmt: skip
    return answer[0]


class ContractError(BackplayError):
    """An env that answers in another form than Gymnasium's: no restorer can mend that."""


class Divergence(NamedTuple):
    """The first answer that differs from the recorded one."""

    step: int
    field: str
    detail: str

    def __str__(self) -> str:
        return f"step {self.step}, {self.field}: {self.detail}"


@dataclass(frozen=True)
class Transcript:
    """What was done and what came of it; T actions, T + 1 observations."""

    seed: int | None
    options: dict[str, Any] | None
    actions: list[Any]
    observations: list[Any]
    rewards: NDArray[np.float64]
    terminations: NDArray[np.bool_]
    truncations: NDArray[np.bool_]
    states: list[Any] | None = None
    """One saved state per observation, where `roll` was asked to save them."""
    final_info: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.actions)


def roll(
    env: AnyEnv,
    policy_or_actions: Policy | Model | Iterable[Any],
    *,
    seed: int | None,
    options: dict[str, Any] | None = None,
    max_steps: int = 1_000_000,
    save: Callable[[AnyEnv], Any] | None = None,
) -> Transcript:
    """Plays one episode from `reset(seed, options)` until it ends or the actions do."""
    choose: Policy
    if isinstance(policy_or_actions, Model):
        choose = partial(predicted, policy_or_actions)
    elif callable(policy_or_actions):
        choose = policy_or_actions
    else:
        ensure(
            isinstance(policy_or_actions, Iterable), "policy_or_actions",
            "a function from observation to action, a model with predict, or a list of actions",
            policy_or_actions, do="Write record(env, policy) or record(env, [0, 2, 1]).",
        )  # fmt: skip
        script = iter(policy_or_actions)

        def choose(_: Any) -> Any:
            return next(script)

    observation, info = env.reset(seed=seed, options=_own(options))
    observations = [trees.copy(observation)]
    states = [save(env)] if save else None
    actions: list[Any] = []
    rewards: list[float] = []
    ends: list[tuple[bool, bool]] = []
    while len(actions) < max_steps and not (ends and any(ends[-1])):
        try:
            action = choose(observation)
        except StopIteration:
            break
        action = _checked_action(env, action, len(actions))
        actions.append(trees.copy(action))  # before the step: some envs scale it in place
        observation, reward, terminated, truncated, info = _checked_answer(env, env.step(action))
        observations.append(trees.copy(observation))
        rewards.append(reward)
        ends.append((bool(terminated), bool(truncated)))
        if save and states is not None:
            states.append(save(env))
    flags = np.array(ends, bool).reshape(-1, 2)
    return Transcript(
        seed, options, actions, observations, np.array(rewards, np.float64),
        flags[:, 0].copy(), flags[:, 1].copy(), states, dict(info),
    )  # fmt: skip


def changing_sight(env: AnyEnv) -> list[str]:
    """The names of the wrappers that change what the env inside them says is seen."""
    found = []
    while isinstance(env, gym.Wrapper):
        own = env.observation_space is not env.env.observation_space
        if own or isinstance(env, gym.ObservationWrapper):
            found.append(type(env).__name__)
        env = env.env
    return found


def require_env(env: Any) -> None:
    """Raises where a class or a name stands for an environment."""
    made = f"{getattr(env, '__name__', 'Env')}()" if callable(env) else f"gym.make({env!r})"
    ensure(
        not isinstance(env, type | str), "env", "an environment", env,
        do=f"Make it first: {made}.",
    )  # fmt: skip
    ensure(
        hasattr(env, "reset") and hasattr(env, "step"), "env", "an environment", env,
        do="It comes first: record(env, policy), check(env, demo), BackplayEnv(env, [demo]).",
    )  # fmt: skip


def require_gymnasium(env: AnyEnv, seed: int, options: dict[str, Any] | None = None) -> None:
    """Raises where `reset` is not of Gymnasium's form, as in envs of the older Gym."""
    require_env(env)
    try:
        answer: Any = env.reset(seed=seed, options=_own(options))
    except TypeError as error:
        if "seed" not in str(error) and "options" not in str(error):
            raise
        answer = error
    ensure(
        isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[1], dict),
        f"reset of {type(env.unwrapped).__name__}",
        "reset(seed=…, options=…), which returns an observation and an info", answer,
        do="Write `def reset(self, *, seed=None, options=None)` and return (observation, {}).",
    )  # fmt: skip


def replay(
    env: AnyEnv,
    rollout: Transcript,
    start: int = 0,
    stop: int | None = None,
    on_state: Callable[[int], None] | None = None,
) -> Divergence | None:
    """Repeats actions `start` to `stop` on `env` as it stands; the first difference, or None.

    An env that fails differs, too: a file may hold any action. `on_state(t)` is called when the env
    stands in state t, before action t, and after the last one.
    """
    stop = len(rollout) if stop is None else min(stop, len(rollout))
    for t in range(start, stop):
        if on_state:
            on_state(t)
        try:
            observation, reward, terminated, truncated, _ = env.step(trees.copy(rollout.actions[t]))
        except BackplayError:
            raise
        except Exception as error:  # whatever an env says of a state or an action not its own
            return Divergence(t + 1, "error", f"{type(error).__name__}: {str(error)[:200]}")
        for name, now, recorded in (
            ("observation", observation, rollout.observations[t + 1]),
            ("reward", float(reward), float(rollout.rewards[t])),
            ("terminated", bool(terminated), bool(rollout.terminations[t])),
            ("truncated", bool(truncated), bool(rollout.truncations[t])),
        ):
            difference = trees.first_difference(now, recorded)
            if difference:
                return Divergence(t + 1, name, f"now and as recorded: {difference}")
    if on_state:
        on_state(stop)
    return None


def replay_from_reset(
    env: AnyEnv, rollout: Transcript, on_state: Callable[[int], None] | None = None
) -> Divergence | None:
    """Resets with the rollout's seed and options, then repeats it all as `replay` does."""
    observation, _ = env.reset(seed=rollout.seed, options=_own(rollout.options))
    difference = trees.first_difference(observation, rollout.observations[0])
    if difference:
        return Divergence(0, "observation", f"now and as recorded: {difference}")
    return replay(env, rollout, on_state=on_state)


def reset_to_another(env: AnyEnv, seed: int | None, options: dict[str, Any] | None) -> None:
    """Resets to another episode than that of `seed`: what is left over from it would then show."""
    seed = seed or 0
    try:
        env.reset(seed=seed + 1, options=_own(options))
    except Exception:  # seeds may be bounded, where they number levels
        env.reset(seed=max(seed - 1, 0), options=_own(options))


def _checked_answer(env: AnyEnv, answer: Any) -> tuple[Any, float, Any, Any, dict[str, Any]]:
    """What `step` returned, with its reward as a number."""
    step = f"step of {type(env.unwrapped).__name__}"
    if not isinstance(answer, tuple) or len(answer) != 5:
        raise ContractError(
            step, expected="(observation, reward, terminated, truncated, info)", got=show(answer),
            do="Return these five: `done` is `terminated` now, or `truncated` at a time limit.",
        )  # fmt: skip
    observation, reward, *ends, info = answer
    try:
        number = float(reward)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ContractError(
            f"The reward of {step}", expected="a finite number", got=show(reward),
            do="Return a float; of several agents or objectives, choose one by a wrapper.",
        )  # fmt: skip
    return observation, number, *ends, info


def _own(options: dict[str, Any] | None) -> dict[str, Any] | None:
    return copy.deepcopy(options) if options else None  # an env may take them apart


def _checked_action(env: AnyEnv, action: Any, step: int) -> Any:
    space = env.action_space
    if isinstance(space, gym.spaces.Discrete):
        action = np.asarray(action).item() if np.ndim(action) == 0 else action
    elif isinstance(space, gym.spaces.Box | gym.spaces.MultiDiscrete | gym.spaces.MultiBinary):
        # A controller computes in float64; the space may say float32, and envs take either.
        given = np.asarray(action)
        if given.dtype.kind in "biuf" and np.can_cast(given.dtype, space.dtype, "same_kind"):
            action = given.astype(space.dtype)
    if not space.contains(action):
        raise BackplayError(
            f"Action {step} does not fit the environment",
            expected=f"an action of {env.action_space}",
            got=repr(action)[:200],
            do="Check the policy or the list of actions.",
        )
    return action
