"""A demonstration from states alone: of another recorder, a planner, a simulator's log.

Comes in: an env, states, and how to put the env into one. Goes out: a demonstration whose states
this library can restore. Does not know: how the states were reached.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from backplay.data import trees
from backplay.demos.demonstration import Demonstration
from backplay.demos.described import describe_env
from backplay.errors import BackplayError, DemonstrationError, refusing, show
from backplay.restore import (
    History,
    Replay,
    Restorer,
    find_restorer,
    layers,
    restorer_named,
)
from backplay.restore.rollout import AnyEnv, changing_sight


def from_states(
    env: AnyEnv,
    states: Sequence[Any],
    *,
    put: Callable[[AnyEnv, Any], None] | None = None,
    observations: Sequence[Any] | Callable[[AnyEnv], Any] | None = None,
    rewards: Sequence[float] | None = None,
    actions: Sequence[Any] | None = None,
    terminated: bool = True,
    success: bool | None = None,
    restorer: Restorer | str | None = None,
) -> Demonstration:
    """See `Demonstration.from_states`."""
    chosen = find_restorer(env) if restorer is None else restorer_named(restorer)
    if isinstance(chosen, Replay):
        raise DemonstrationError(
            "States alone cannot be replayed", expected="a restorer that puts states back",
            got=chosen.name, do="Give the env get_state() and set_state(), or record its actions.",
        )  # fmt: skip
    steps = len(states) - 1
    if steps < 1:
        raise DemonstrationError(
            "states", expected="at least two, the last one being the end", got=len(states)
        )
    _require_length("rewards", rewards, steps)
    _require_length("actions", actions, steps)
    saved, seen = _saved(env, states, put or _set_state, observations, chosen)
    ends = np.zeros(steps, np.bool_)
    ends[-1] = terminated
    return Demonstration(
        observations=seen,
        rewards=np.zeros(steps) if rewards is None else np.array(rewards, np.float64),
        terminations=ends,
        truncations=np.zeros(steps, np.bool_),
        actions=None if actions is None else [trees.copy(action) for action in actions],
        states=saved,
        restorer=chosen,
        success=success,
        **describe_env(env),
    )


def _saved(
    env: AnyEnv,
    states: Sequence[Any],
    put: Callable[[AnyEnv, Any], None],
    observations: Sequence[Any] | Callable[[AnyEnv], Any] | None,
    restorer: Restorer,
) -> tuple[list[Any], list[Any]]:
    """What the restorer saves of each state, and what is seen in it."""
    tracked = History(env)
    tracked.reset(seed=0)
    given = observations is not None and not callable(observations)
    if given:
        _require_length("observations", observations, len(states))
    look = observations if callable(observations) else _look
    saved, seen = [], []
    for t, state in enumerate(states):
        with refusing(
            f"The env cannot be put into state {t}",
            do="Pass put=, a function that puts the env into one of your states.",
            error=DemonstrationError,
        ):  # fmt: skip
            put(env, trees.copy(state) if _is_plain(state) else state)
        _count_steps(env, t)
        saved.append(restorer.save(tracked))
        seen.append(trees.copy(observations[t] if given else look(env)))  # type: ignore[index]
    return saved, seen


def _count_steps(env: AnyEnv, steps: int) -> None:
    """Tells Gymnasium's TimeLimit how many steps the demonstration had taken here."""
    for layer in layers(env):
        if type(layer).__name__ == "TimeLimit":
            vars(layer)["_elapsed_steps"] = steps


def _set_state(env: AnyEnv, state: Any) -> None:
    base: Any = env.unwrapped
    base.set_state(state)


def _look(env: AnyEnv) -> Any:
    """What is seen in an env that can be asked, as many can; by no wrapper that changes it."""
    changed = changing_sight(env)
    for name in () if changed else ("_get_obs", "_get_observation", "get_obs"):
        asked = getattr(env.unwrapped, name, None)
        if callable(asked):
            found = asked()
            if env.observation_space.contains(found):
                return found
    raise BackplayError(
        "observations", expected="what is seen in each state, or a function that looks",
        got=f"nothing, and {changed[0]} changes what the env says"
        if changed
        else "nothing, and the env cannot be asked",
        do="Pass observations=[...], or observations=lambda env: env.unwrapped.see().",
    )  # fmt: skip


def _is_plain(state: Any) -> bool:
    try:
        trees.copy(state)
    except TypeError:
        return False
    return True


def _require_length(name: str, values: Any, length: int) -> None:
    if values is not None and len(values) != length:
        raise DemonstrationError(name, expected=f"{length} of them", got=show(len(values)))
