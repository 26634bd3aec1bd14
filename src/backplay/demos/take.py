"""An episode that a person plays, with an exact way back to every step.

Comes in: actions, and where to go. Goes out: where the episode stands, and a demonstration. Does
not know: keys, screens, files.

States are kept at every `stride` steps; the stride doubles when they take too much room. Between
two of them the actions are repeated. So an hour of play takes no more memory than a few minutes of
it. Every answer is compared, by its digest, with the answer that came the first time.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from backplay.data import packing, trees
from backplay.demos import sights
from backplay.demos.demonstration import Demonstration
from backplay.demos.record import record
from backplay.demos.sights import SIZE, fingerprint
from backplay.errors import BackplayError, ensure
from backplay.restore import History, Restorer, find_restorer, renew
from backplay.restore.rollout import AnyEnv

STATE_BYTES = 64 * 2**20  # what all kept states may take
MOST_STATES = 2_048
_UNKNOWN_BYTES = 2**16  # of a state that is no plain data
_MOST_FILE_BYTES = 2**30  # of the observations and states of a demonstration


class Take:
    """The episode so far. It stands at step `at`, which may lie before its end."""

    def __init__(self, env: AnyEnv, seed: int = 0, *, restorer: Restorer | None = None) -> None:
        """An episode from `reset(seed)`."""
        self.seed = seed
        self.restorer = restorer or find_restorer(env, seed=seed)
        self._env = History(env)
        self.restart()

    def restart(self) -> None:
        """Forgets the episode and begins it again."""
        self.actions: list[Any] = []
        self.rewards = array("d")
        self.at = 0
        self.observation: Any = None
        """What is seen at `at`."""
        self.info: dict[str, Any] = {}
        """What the environment said last."""
        self.end_info: dict[str, Any] = {}
        """What it said at the end of the episode."""
        self._reward = 0.0
        self._digests = bytearray()
        self.ends = (False, False)
        """Whether its last step has terminated and truncated it."""
        self._states: dict[int, Any] = {}
        self._stride = 1
        self._reset()
        self._digests += fingerprint(self.observation)
        self._most = _how_many(self._states[0])

    def __len__(self) -> int:
        """The number of steps, those after `at` included."""
        return len(self.actions)

    @property
    def total_reward(self) -> float:
        """The return up to `at`."""
        return float(np.frombuffer(self.rewards, np.float64, self.at).sum()) if self.at else 0.0

    @property
    def reward(self) -> float:
        """What the step that led to `at` brought."""
        return self.rewards[self.at - 1] if self.at else 0.0

    @property
    def terminated(self) -> bool:
        """Whether the environment has ended the episode here."""
        return self.ends[0] and self.at == len(self)

    @property
    def truncated(self) -> bool:
        """Whether a limit has ended the episode here."""
        return self.ends[1] and self.at == len(self)

    @property
    def ended(self) -> bool:
        """Whether the episode is over here."""
        return self.terminated or self.truncated

    def step(self, action: Any) -> None:
        """Takes `action` at `at`; what came after it the first time is forgotten."""
        ensure(not self.ended, "The episode is over", do="Go back, or begin again.")
        self.trim()
        terminated, truncated = self._advance(action)
        self.actions.append(trees.copy(action))
        self.rewards.append(self._reward)
        self._digests += fingerprint(self.observation)
        self.ends = (terminated, truncated)
        self.end_info = self.info if self.ended else {}
        self._keep()

    def go(self, step: int) -> None:
        """Goes to `step`; what comes after it is kept until another action is taken there."""
        ensure(0 <= step <= len(self), "step", f"from 0 to {len(self)}", got=step)
        # At least one step is taken again: not every env can draw a state it was put back into.
        base = max(step - 1, 0) // self._stride * self._stride
        if base == 0:
            self._reset()
        else:
            self.restorer.load(self._env, self._states[base])
            self._env.actions = self.actions[:base]
            self.at = base
        while self.at < step:
            self._advance(self.actions[self.at])
            self._compare()

    def undo(self, steps: int = 1) -> int:
        """Takes back up to `steps` steps; how many it were."""
        steps = min(steps, self.at)
        if steps:
            self.go(self.at - steps)
            self.trim()
        return steps

    def trim(self) -> None:
        """Forgets what comes after `at`."""
        if self.at == len(self):
            return
        del self.actions[self.at :], self.rewards[self.at :]
        del self._digests[(self.at + 1) * SIZE :]
        self.ends = (False, False)
        self._states = {step: s for step, s in self._states.items() if step <= self.at}

    def play(self, actions: Sequence[Any], on_step: Callable[[], None] | None = None) -> int:
        """Takes these actions one after another until the episode ends; how many were taken."""
        for count, action in enumerate(actions):
            if self.ended:
                return count
            self.step(action)
            if on_step:
                on_step()
        return len(actions)

    def cut(self, first: int, last: int, on_step: Callable[[], None] | None = None) -> int | None:
        """Takes the steps from `first` to before `last` out and plays the rest again.

        Returns the first step, in the new counting, that was answered differently; None if the rest
        went as it did before. It stands at its new end.
        """
        if not 0 <= first < last <= len(self):
            raise BackplayError(
                "cut", expected=f"0 <= first < last <= {len(self)}", got=f"{first} and {last}"
            )
        rest, rewards = self.actions[last:], self.rewards[last:]
        digests = bytes(self._digests[(last + 1) * SIZE :])
        ends = self.ends
        self.go(first)
        self.trim()
        taken = self.play(rest, on_step)
        new = bytes(self._digests[(first + 1) * SIZE :])
        for i in range(taken):
            same = new[i * SIZE : (i + 1) * SIZE] == digests[i * SIZE : (i + 1) * SIZE]
            if not same or self.rewards[first + i] != rewards[i]:
                return first + i + 1
        return None if taken == len(rest) and ends == self.ends else len(self)

    def loops(self) -> list[tuple[int, int]]:
        """What looks like a loop, see `sights.loops`. What a cut does, `cut` says."""
        return sights.loops([self._print(step) for step in range(len(self) + 1)])

    def demonstration(self, env: AnyEnv, success: bool | str | None = None) -> Demonstration:
        """The episode up to `at`, recorded straight through on `env`, which must answer alike."""
        steps = self.at
        ensure(steps, "There is nothing to save yet", "at least one step")
        _require_room(steps, self.observation)
        demo = record(
            env, self.actions[:steps], seed=self.seed, max_steps=steps, success=success,
        )  # fmt: skip
        for step, seen in enumerate(demo.observations):
            reward = step > 0 and float(demo.rewards[step - 1]) != self.rewards[step - 1]
            if reward or fingerprint(seen) != self._print(step):
                raise self._another_way(step)
        return demo

    def _reset(self) -> None:
        renew(self._env, self.restorer)
        self.observation, self.info = self._env.reset(seed=self.seed)
        self.at = 0
        if 0 in self._states:
            self._compare()
        else:
            self._states[0] = self.restorer.save(self._env)

    def _advance(self, action: Any) -> tuple[bool, bool]:
        answer = self._env.step(trees.copy(action))
        self.observation, reward, terminated, truncated, self.info = answer
        self._reward = float(reward)
        self.at += 1
        return bool(terminated), bool(truncated)

    def _compare(self) -> None:
        """The answer at `at`, repeated, with the first one."""
        reward = self.at > 0 and self._reward != self.rewards[self.at - 1]
        if reward or fingerprint(self.observation) != self._print(self.at):
            raise self._another_way(self.at)

    def _keep(self) -> None:
        """Keeps the present state if its turn has come, and thins the others if there are many."""
        if self.at % self._stride == 0:
            self._states[self.at] = self.restorer.save(self._env)
        if len(self._states) > self._most:
            self._stride *= 2
            self._states = {t: s for t, s in self._states.items() if t % self._stride == 0}

    def _print(self, step: int) -> bytes:
        return bytes(self._digests[step * SIZE : (step + 1) * SIZE])

    def _another_way(self, step: int) -> BackplayError:
        return BackplayError(
            "The episode went another way when it was repeated",
            expected="the same answers to the same actions",
            got=f"another answer at step {step}",
            do="The environment is not deterministic given its seed.",
        )


def _bytes_of(value: Any) -> int:
    try:
        text, arrays = packing.pack(value)
    except (TypeError, ValueError, RecursionError):
        return _UNKNOWN_BYTES
    return len(text) + sum(part.nbytes for part in arrays)


def _how_many(state: Any) -> int:
    """How many states like this one may be kept."""
    return max(32, min(MOST_STATES, STATE_BYTES // max(1, _bytes_of(state))))


def _require_room(steps: int, observation: Any) -> None:
    """Refuses an episode whose demonstration would not fit into memory."""
    size = steps * _bytes_of(observation)
    if size > _MOST_FILE_BYTES:
        raise BackplayError(
            "This episode is too long for a demonstration",
            expected=f"at most {_MOST_FILE_BYTES // 2**20:,} MB of observations",
            got=f"{size // 2**20:,} MB in {steps:,} steps",
            do="Go back to a shorter part of it, or cut useless stretches out.",
        )
