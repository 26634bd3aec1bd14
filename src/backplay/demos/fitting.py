"""Recorded states for an env that may have other settings: refused by name, or made to fit.

Comes in: an env, a recording, whose settings shall hold. Goes out: states to restore in that env.
Does not know: how settings are told from state, see `restore.settings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np

from backplay.data import trees
from backplay.errors import DemonstrationError, ensure, show
from backplay.restore import Replay, Restorer
from backplay.restore.rollout import AnyEnv, reset_to_another
from backplay.restore.settings import (
    Setting,
    describe,
    fit_layers,
    other_constants,
    other_settings,
    unlikely_number,
    with_settings,
)

Settings = Literal["recorded", "mine"]
"""Whose settings hold: those of the recording, or an env with others is refused; or the env's."""
SAY_MINE = ' To keep the settings that this env has: settings="mine" (--settings mine).'


class Recording(Protocol):
    """What is needed of a demonstration."""

    @property
    def observations(self) -> list[Any]: ...
    @property
    def states(self) -> list[Any] | None: ...
    @property
    def restorer(self) -> Restorer: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def options(self) -> dict[str, Any] | None: ...


def fit_states(env: AnyEnv, recording: Recording, settings: Settings) -> Sequence[Any]:
    """The states of a recording, which leave the settings of `env` as they are. Resets `env`."""
    ensure(
        settings in ("recorded", "mine"), "settings", "'recorded' or 'mine'", settings,
        do="See docs/settings.md.",
    )  # fmt: skip
    assert recording.states is not None
    name = recording.restorer.name
    if settings == "mine" and isinstance(recording.restorer, Replay):
        raise DemonstrationError(
            'settings="mine" does not go with a replay',
            expected="states that can be put back",
            got=f"{name} states: the same actions under other settings lead elsewhere",
            do="Give the env get_state() and set_state(), or build it as for recording.",
        )
    states = fit_layers(env, name, recording.states)
    unlikely = unlikely_number(env, name, states)
    ensure(
        unlikely is None, "A state of this demonstration cannot be one of this task",
        "clocks from 0 on, constants that stay, and numbers within measure", got=unlikely,
        do="Record it again, or ask whoever made it.", error=DemonstrationError,
    )  # fmt: skip
    differ = _other_settings(env, recording, states)
    if differ and settings == "recorded":
        raise DemonstrationError(
            "This demonstration was recorded with other settings",
            expected=f"{describe(differ, here=True)}, as this env has it",
            got=describe(differ, here=False),
            do="Build the env as it was built for recording; if it draws them at every reset, draw"
            " from self.np_random, so that the seed says them." + SAY_MINE,
        )
    return with_settings(name, states, differ) if differ else states


def require_form(env: AnyEnv, recording: Recording) -> None:
    """Refuses observations of another form than the env's: nobody could make a batch of them."""
    space = env.observation_space
    odd = [t for t, seen in enumerate(recording.observations) if not _has_form(space, seen)]
    if not odd:
        return
    options = dict(recording.options) if recording.options else None
    own, _ = env.reset(seed=recording.seed, options=options)  # an env may not keep to its space
    for t in odd:
        if _form(recording.observations[t]) != _form(own):
            raise DemonstrationError(
                f"What was seen at step {t} is no observation of this env",
                expected=f"one of {show(space)}", got=show(recording.observations[t]),
                do="Record it again.",
            )  # fmt: skip


def _has_form(space: Any, seen: Any) -> bool:
    """Whether an observation is of the shape and kind of a space, whatever its numbers."""
    kind = type(space).__name__
    if kind in ("Box", "MultiBinary", "MultiDiscrete", "Discrete"):
        seen = np.asarray(seen) if isinstance(seen, int | float | np.generic) else seen
        return (
            isinstance(seen, np.ndarray)
            and seen.shape == space.shape
            and np.can_cast(seen.dtype, space.dtype, "same_kind")
        )
    if kind == "Dict":
        parts = [(part, seen[key]) for key, part in space.spaces.items()
                 if isinstance(seen, dict) and key in seen]  # fmt: skip
        return len(parts) == len(space.spaces) and all(_has_form(*pair) for pair in parts)
    if kind == "Tuple":
        whole = isinstance(seen, tuple) and len(seen) == len(space.spaces)
        return whole and all(map(_has_form, space.spaces, seen))
    return bool(space.contains(seen))


def _form(seen: Any) -> Any:
    """Types and shapes in an observation."""
    if isinstance(seen, dict):
        return {key: _form(part) for key, part in seen.items()}
    if isinstance(seen, list | tuple):
        return [_form(part) for part in seen]
    if isinstance(seen, np.ndarray):
        return seen.dtype, seen.shape
    return type(seen)


def _other_settings(env: AnyEnv, recording: Recording, states: Sequence[Any]) -> list[Setting]:
    seed, options, name = recording.seed, recording.options, recording.restorer.name
    if seed is None:  # what else differs after another reset may be the state, not a setting
        return other_constants(env, name, states)
    env.reset(seed=seed, options=dict(options) if options else None)
    found = other_settings(env, name, states)
    if not found:
        return []
    reset_to_another(env, seed, options)  # what this changes is no setting either
    still = {setting.path: setting.here for setting in other_settings(env, name, states)}
    return [one for one in found if trees.first_difference(still.get(one.path), one.here) is None]
