"""Demonstrations: one recorded episode with a state to return to at every step.

`record` makes one, `Demonstration.save` writes it, `files.load` reads it. A file is arrays and
JSON. States that are no plain data are not in it: they are rebuilt from the seed and the
actions, and verified, as soon as an env is at hand. Knows nothing of curricula.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.data import archive, trees
from backplay.data.files import write_atomically
from backplay.demos.described import describe_env, settings_in_words
from backplay.demos.fitting import SAY_MINE, Settings, fit_states, require_form
from backplay.errors import BackplayError, DemonstrationError, ensure
from backplay.records import Snapshot
from backplay.restore import (
    AtariState,
    History,
    Restorer,
    renew,
)
from backplay.restore.rollout import AnyEnv, Transcript, replay, replay_from_reset

KIND = "backplay demonstration"
_BEARS = 16  # steps after which an env has borne a state


@dataclass(frozen=True, eq=False)
class Demonstration:
    """One episode of T steps: T + 1 observations and states, T rewards and (optionally) actions."""

    observations: list[Any]
    """What was seen in each state, [T + 1]."""
    rewards: NDArray[np.float64]
    """[T]."""
    terminations: NDArray[np.bool_]
    """[T]; only the last can be true."""
    truncations: NDArray[np.bool_]
    """[T]; only the last can be true."""
    actions: list[Any] | None
    """[T], or None: Backplay needs the states alone."""
    states: list[Any] | None
    """What the restorer saved in each state, [T + 1]; None if it must be rebuilt with an env."""
    restorer: Restorer
    """What saved the states and puts an env back into them."""
    seed: int | None = None
    """The seed of the reset it began with."""
    options: dict[str, Any] | None = None
    """The options of the reset it began with."""
    success: bool | None = None
    """Whether it reached the goal, if anyone said."""
    env_id: str | None = None
    """The environment's id, if it has one."""
    env_kwargs: dict[str, Any] = field(default_factory=dict)
    """The arguments the environment was made with."""
    spaces: dict[str, str] = field(default_factory=dict)
    """The observation and the action space, in words."""
    versions: dict[str, str] = field(default_factory=dict)
    """The versions of the packages it was recorded with."""

    def __post_init__(self) -> None:
        problem = _problem(self)
        ensure(
            not problem, "This is no demonstration",
            "T + 1 observations and states, T rewards and actions, T at least 1", got=problem,
            do="Make demonstrations with bp.record or bp.load.", error=DemonstrationError,
        )  # fmt: skip

    @classmethod
    def from_states(cls, env: AnyEnv, states: Sequence[Any], **parts: Any) -> Demonstration:
        """A demonstration from states alone, T + 1 of them, the last one being the end.

            bp.Demonstration.from_states(env, states)  # for an env with set_state
            bp.Demonstration.from_states(
                env, poses, put=lambda env, pose: env.unwrapped.set_state(*pose), restorer="mujoco"
            )

        Args:
            env: the environment, which is put into every state.
            states: whatever `put` takes.
            parts: `put`, a function of env and state, by default `env.unwrapped.set_state(state)`;
                `observations`, T + 1 of them or a function that looks at the env, by default
                `env.unwrapped._get_obs`; `rewards` and `actions`, T of each; `terminated`, whether
                the env ended it, by default yes; `success`; `restorer`, by default the fastest that
                proves exact.
        """
        from backplay.demos.states import from_states

        return from_states(env, states, **parts)

    def __len__(self) -> int:
        """The number of steps, T."""
        return len(self.rewards)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Demonstration):
            return NotImplemented
        return trees.first_difference(_as_tree(self), _as_tree(other)) is None

    __hash__ = None  # type: ignore[assignment]  # equal by content, so not hashable

    def __repr__(self) -> str:
        return (
            f"<Demonstration of {self.env_id or 'an env'}: {len(self)} steps, return"
            f" {self.rewards.sum():g}, {self.restorer.name} states>"
        )

    @property
    def terminated(self) -> bool:
        """Whether the environment ended it."""
        return bool(self.terminations[-1])

    @property
    def returns_to_go(self) -> NDArray[np.float64]:
        """The sum of rewards from each state on, [T + 1]."""
        return np.append(np.cumsum(self.rewards[::-1])[::-1], 0.0)

    def snapshot(self, step: int) -> Snapshot:
        """The state at `step` and what was seen in it."""
        if self.states is None:
            raise DemonstrationError(
                "This demonstration was loaded without its states",
                expected="states that were rebuilt with an env",
                got=f"seed and actions, to be rebuilt for {self.restorer.name}",
                do="Use demo.rebuild(env), or bp.load(path, env).",
            )
        if not 0 <= step <= len(self):
            raise DemonstrationError(
                "step",
                expected=f"from 0 to {len(self)}",
                got=str(step),
                do="Choose one of its steps.",
            )
        return Snapshot(self.states[step], self.observations[step])

    def rollout(self) -> Transcript:
        """Seed, actions and answers, to be replayed."""
        if self.actions is None:
            raise DemonstrationError(
                "This demonstration has no actions",
                expected="actions to repeat",
                do="Record it with actions: checks and rebuilding need them, Backplay does not.",
            )
        return Transcript(
            self.seed, self.options, self.actions, self.observations, self.rewards,
            self.terminations, self.truncations, self.states,
        )  # fmt: skip

    def fit(self, env: AnyEnv, settings: Settings = "recorded") -> Demonstration:
        """A demonstration for use with `env`: of the same env and spaces, its states rebuilt.

        `env` is reset. One with other settings than the recording's is refused, unless `settings`
        is "mine": then they stay as they are whatever is restored.
        """
        here = describe_env(env)
        compared = [
            ("environment", self.env_id, here["env_id"]),
            *((f"{k} space", v, here["spaces"][k]) for k, v in self.spaces.items()),
        ]
        if self.env_id and here["env_id"] and settings == "recorded":
            theirs = settings_in_words(here["env_kwargs"])
            compared.append(("setting", settings_in_words(self.env_kwargs), theirs))
        for what, ours, theirs in compared:
            if ours and theirs and ours != theirs:
                raise DemonstrationError(
                    f"This demonstration is of another {what}",
                    expected=f"{theirs}",
                    got=f"a demonstration of {ours}",
                    do="Record one on this env, or build the env as it was built for recording."
                    + (SAY_MINE if what == "setting" else ""),
                )
        whole = self.rebuild(env)
        try:
            require_form(env, whole)
            states = fit_states(env, whole, settings)
        except BackplayError:
            raise
        except Exception as error:  # an env does what it likes with a seed not its own
            raise self._not_rebuilt(f"{type(error).__name__}: {str(error)[:200]}") from error
        return whole if states is whole.states else replace(whole, states=list(states))

    def rebuild(self, env: AnyEnv) -> Demonstration:
        """The same with its states, made or vouched for by going the whole way again if need be."""
        emulator = self.restorer if isinstance(self.restorer, AtariState) else None
        rebuilt: list[Any] = []
        tracked = History(env)

        def keep(step: int) -> None:
            if self.states is None:
                rebuilt.append(self.restorer.save(tracked))
            elif emulator and not emulator.vouch(tracked, self.states[step]):
                raise self._not_rebuilt(f"another state of the emulator at step {step}")

        try:
            doubted = emulator is not None and any(map(emulator.doubts, self.states or ()))
            if self.states is not None and (not doubted or None in (self.seed, self.actions)):
                return self
            renew(env, self.restorer)
            divergence = replay_from_reset(tracked, self.rollout(), on_state=keep)
            problem = f"another answer at {divergence}" if divergence else None
        except BackplayError:
            raise
        except Exception as error:  # an env does what it likes with a seed or actions not its own
            problem = f"{type(error).__name__} at step {len(tracked.actions)}: {str(error)[:200]}"
            raise self._not_rebuilt(problem) from error
        if problem:
            raise self._not_rebuilt(problem)
        return self if self.states is not None else replace(self, states=rebuilt)

    def _not_rebuilt(self, problem: str) -> DemonstrationError:
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return DemonstrationError(
            "This demonstration could not be rebuilt from its seed and actions",
            expected="the recorded observations, rewards and endings",
            got=problem,
            do=f"Use the env and the versions it was recorded with: {versions or 'unknown'}.",
        )

    def restore(self, env: AnyEnv, step: int, rng: np.random.Generator | None = None) -> int:
        """Puts `env` into the state at `step`, as `Restorer.load` does; the env steps that took."""
        state = self.snapshot(step).state
        try:
            return self.restorer.load(env, state, rng)
        except BackplayError:
            raise
        except Exception as error:  # a state from a file can be anything
            raise self.unusable(step, error) from error

    @contextmanager
    def blamed(self, step: int) -> Iterator[None]:
        """Whatever fails inside is said to come of the state at `step`, which was restored."""
        try:
            yield
        except BackplayError:
            raise
        except Exception as error:
            raise self.unusable(step, error) from error

    def fails(self, env: AnyEnv, step: int) -> bool:
        """Whether `env` fails after the state at `step` with the recorded actions, too.

        If it does not, an action that it fails at is to blame. It is left where it stands.
        """
        if not self.restorer.storable or self.states is None:  # an env of this kind made the state
            return False
        if self.actions is None:
            return True
        try:
            here = self.restorer.save(env)
            self.restorer.load(env, self.states[step])
            divergence = replay(env, self.rollout(), step, step + _BEARS)
            self.restorer.load(env, here)
        except Exception:  # a state from a file can be anything
            return True
        return divergence is not None and divergence.field == "error"

    def unusable(self, step: int, error: Exception) -> DemonstrationError:
        """The error of a state that an env does not bear, at once or after some steps from it."""
        return DemonstrationError(
            f"The env fails after the state at step {step} was restored",
            expected=f"{self.restorer.name} states of this env",
            got=f"{type(error).__name__}: {str(error)[:200]}",
            do="bp.check(env, demo) says which states hold; record it again on this env.",
        )

    def save(self, path: str | Path) -> None:
        """Writes it to one file, atomically."""
        write_atomically(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The content of its file."""
        if not self.restorer.storable and (self.actions is None or self.seed is None):
            raise DemonstrationError(
                "This demonstration cannot be written",
                expected=f"a seed and actions: {self.restorer.name} states are no plain data",
                got="no actions" if self.actions is None else "no seed",
                do="Record it with a seed and its actions.",
            )
        return archive.to_bytes(KIND, _as_tree(self))


def _as_tree(demo: Demonstration) -> trees.Tree:
    """Its parts by name, as a file has them."""
    parts = {part.name: getattr(demo, part.name) for part in fields(demo)}
    states = demo.states if demo.restorer.storable else None
    return {**parts, "states": states, "restorer": demo.restorer.name}


def _problem(demo: Demonstration) -> str | None:
    """What is wrong with the parts of a demonstration, or None."""
    arrays = (("rewards", np.float64), ("terminations", np.bool_), ("truncations", np.bool_))
    for name, dtype in arrays:
        array = getattr(demo, name)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
            return f"{name} that are no {np.dtype(dtype).name} array [T]"
    steps = len(demo.rewards)
    if steps < 1 or len(demo.terminations) != steps or len(demo.truncations) != steps:
        return "arrays of no or of different lengths"
    if demo.terminations[:-1].any() or demo.truncations[:-1].any():
        return "an end before the last step"
    for name, length in (("observations", steps + 1), ("actions", steps), ("states", steps + 1)):
        values = getattr(demo, name)
        if values is None and name != "observations":
            continue
        if not isinstance(values, list) or len(values) != length:
            return f"{name} that are no list of {length}"
    kinds = (
        ("seed", int | None), ("options", dict | None), ("success", bool | None),
        ("env_id", str | None), ("env_kwargs", dict), ("spaces", dict), ("versions", dict),
    )  # fmt: skip
    for name, kind in kinds:
        value = getattr(demo, name)
        if not isinstance(value, kind) or (name == "seed" and isinstance(value, bool)):
            return f"{name} that is of type {type(value).__name__}"  # it may be too large to print
    words = (*demo.spaces.items(), *demo.versions.items())
    if not all(isinstance(k, str) and isinstance(v, str) for k, v in words):
        return "spaces or versions that are not words"
    if not {*demo.spaces} <= {"observation", "action"}:
        return "spaces of another name"
    return None
