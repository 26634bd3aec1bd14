"""Restorers that go the whole way to a state again: slow, and they need no support from an env.

Comes in: the seed and the actions that a `History` has kept. Goes out: an env that has gone the
same way. Does not know: whether it came to the same place, see `find_restorer`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from gymnasium.envs.registration import load_env_creator

from backplay.data import trees
from backplay.errors import BackplayError
from backplay.restore import layers as stack
from backplay.restore.layers import History
from backplay.restore.restorer import Restorer, State
from backplay.restore.rollout import AnyEnv


@dataclass(frozen=True)
class ReplayState:
    """A state as the way to it: reset with `seed`, `options`, take the first `steps` actions."""

    seed: int | None
    options: dict[str, Any] | None
    actions: list[Any]
    steps: int


@dataclass(frozen=True)
class Replay:
    """Goes the whole way again: reset with the seed, repeat the actions. Slow, needs no support."""

    name: str = field(default="replay", init=False)
    storable: bool = field(default=False, init=False)

    def save(self, env: AnyEnv) -> State:
        if isinstance(env, History):
            return ReplayState(env.seed, env.options, env.actions, len(env.actions))
        raise BackplayError(
            "Replay does not know how this env came to its state",
            expected="an env wrapped in bp.restore.History before its reset",
            got=str(env),
            do="Use bp.record, which does so, or wrap the env.",
        )

    def load(self, env: AnyEnv, state: State, rng: np.random.Generator | None = None) -> int:
        env.reset(seed=state.seed, options=dict(state.options) if state.options else None)
        for action in state.actions[: state.steps]:
            env.step(trees.copy(action))
        stack.begin_watching(env)
        if rng is not None:
            stack.refresh(env, rng)
        return int(state.steps)


@dataclass(frozen=True)
class FreshReplay(Replay):
    """Goes the whole way again in a new instance of the base env, put into the place of the old.

    For envs in which something survives `reset`: the world of Box2D's walker remembers the episodes
    before, and answers otherwise.
    """

    name: str = field(default="fresh", init=False)

    def load(self, env: AnyEnv, state: State, rng: np.random.Generator | None = None) -> int:
        self.renew(env)
        return super().load(env, state, rng)

    def renew(self, env: AnyEnv) -> None:
        """Makes the base env as if it were new; a window that it shows stays open."""
        base = env.unwrapped
        old, new = dict(vars(base)), vars(_make_again(base))
        vars(base).clear()
        vars(base).update(new)
        for name, value in old.items():
            if new.get(name) is None and stack.is_static(value):
                vars(base)[name] = value


def _make_again(base: AnyEnv) -> AnyEnv:
    """Another env like `base`, made as it was made."""
    if base.spec is not None and base.spec.entry_point is not None:
        entry = base.spec.entry_point
        make = load_env_creator(entry) if isinstance(entry, str) else entry
        made: Any = make(**base.spec.kwargs)
        made.unwrapped.spec = base.spec
        again: AnyEnv = made.unwrapped
        return again
    held = vars(base)
    if "_ezpickle_args" in held:  # of gymnasium.utils.EzPickle: how it was made
        return type(base)(*held["_ezpickle_args"], **held["_ezpickle_kwargs"])
    raise BackplayError(
        f"How {type(base).__name__} was made is not known",
        expected="an env that is registered with Gymnasium, or a gymnasium.utils.EzPickle",
    )


def renew(env: AnyEnv, restorer: Restorer) -> None:
    """Makes `env` as new as `restorer` needs it before an episode that it is to go again."""
    if isinstance(restorer, FreshReplay):
        restorer.renew(env)
