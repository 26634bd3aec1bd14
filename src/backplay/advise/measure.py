"""What a policy does from states along a demonstration, and from the environment's own resets.

Comes in: an env, a demonstration, a policy, a clock. Goes out: `Measured`: by steps back from the
end, how often short rollouts succeed and how long they take. Does not know: chains or curricula.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backplay.demos import Demonstration
from backplay.demos.success import Ending, Success, success_rule
from backplay.errors import BackplayError
from backplay.records import GRACE, Start, steps_allowed
from backplay.restore.rollout import AnyEnv, Policy, replay

FloatArray = NDArray[np.float64]
Progress = Callable[[int, str], None]
"""Takes the rollouts played and a few words on them."""

PATIENCE = 8  # a rollout is cut after so many times the demonstration's length, and a little
HOPELESS = 20  # rollouts without a success, here and one rung nearer: no more are spent here
PROBES = 4  # places where the same actions are repeated with other luck


@dataclass(frozen=True)
class Rung:
    """Rollouts from one place."""

    steps_back: int
    """From the demonstration's end; its length means the environment's own reset."""
    rollouts: int
    successes: int
    mean_length: float
    longest: int
    """The most steps that a rollout from here took."""

    @property
    def success(self) -> float:
        """Share of successes."""
        return self.successes / self.rollouts


@dataclass(frozen=True, eq=False)
class Measured:
    """All rollouts."""

    rungs: tuple[Rung, ...]
    """By steps back, nearest the end first; the last is the environment's own reset."""
    reset_rewards: tuple[FloatArray, ...]
    """Rewards of every rollout from a reset, step by step."""
    reset_observations: tuple[Any, ...]
    """What was seen first after each of these resets."""
    stochastic: bool
    """Whether the demonstration's actions led elsewhere with other luck."""
    out_of_time: bool
    """Whether the clock ended it before all rollouts were played."""

    @property
    def reset(self) -> Rung:
        """The rollouts from the environment's own resets."""
        return self.rungs[-1]


@dataclass
class _Tally:
    """Rollouts from one place, as they come in."""

    steps_back: int
    wins: list[bool] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def rung(self) -> Rung:
        return Rung(
            self.steps_back, len(self.wins), sum(self.wins), float(np.mean(self.lengths)),
            max(self.lengths),
        )  # fmt: skip


def ladder(length: int) -> list[int]:
    """Steps back to look at: 1, 2, 3, 4, 6, 8, 12, 16, .. below `length`, and `length`."""
    steps = [1, 2, 3]
    power = 4
    while power < length:
        steps += [power, power + power // 2]
        power *= 2
    return [step for step in steps if step < length] + [length]


class Prober:
    """Plays rollouts on one env; `until` is the clock's time at which it stops."""

    def __init__(
        self,
        env: AnyEnv,
        demo: Demonstration,
        policy: Policy | None,
        rng: np.random.Generator,
        until: float,
        success: Success | None = None,
    ) -> None:
        self.demo = demo
        self.until = until
        self._env, self._rng = env, rng
        space = copy.deepcopy(env.action_space)
        space.seed(int(rng.integers(2**31)))
        self._act: Policy = policy or (lambda _: space.sample())
        self._rule = success_rule(success, [self.demo])
        self._cap = int(steps_allowed(PATIENCE, len(demo)))
        self._options = self._own_options()
        self.reset_rewards: list[FloatArray] = []
        self.reset_observations: list[Any] = []

    def _own_options(self) -> dict[str, Any] | None:
        """Options for a reset: none, as in training, unless the env refuses to go without."""
        try:
            self._env.reset(seed=self.demo.seed)
        except (
            Exception
        ):  # an env may raise anything; with its demonstration's options it did reset
            if self.demo.options is None:
                raise
            return dict(self.demo.options)
        return None

    def reset(self) -> Any:
        """What is seen after the env's own reset with a new seed."""
        seed = int(self._rng.integers(2**31))
        try:
            return self._env.reset(seed=seed, options=self._options)[0]
        except Exception:  # seeds may be bounded, where they number levels
            return self._env.reset(options=self._options)[0]

    def play(self, tally: _Tally) -> bool:
        """One rollout; False if the clock ended it, and then it does not count."""
        step = len(self.demo) - tally.steps_back
        if step == 0:
            return self._play(tally, step)
        with self.demo.blamed(step):
            return self._play(tally, step)

    def _play(self, tally: _Tally, step: int) -> bool:
        from_reset = step == 0
        if from_reset:
            seen = self.reset()
            self.reset_observations.append(copy.deepcopy(seen))
        else:
            self.demo.restore(self._env, step, self._rng)
            seen = copy.deepcopy(self.demo.observations[step])
        rewards: list[float] = []
        terminated = truncated = False
        info: dict[str, Any] = {}
        while not (terminated or truncated) and len(rewards) < self._cap:
            if time.monotonic() > self.until:
                return False
            seen, reward, terminated, truncated, info = self._env.step(self._act(seen))
            rewards.append(float(reward))
        end = Ending(
            None if from_reset else Start(0, step), float(np.sum(rewards)), len(rewards),
            rewards[-1], bool(terminated), bool(truncated), info,
        )  # fmt: skip
        tally.wins.append(bool(self._rule(end)))
        tally.lengths.append(len(rewards))
        if from_reset:
            self.reset_rewards.append(np.asarray(rewards))
        return True

    def stochastic(self) -> bool:
        """Whether the demonstration's own actions lead elsewhere with other luck."""
        if self.demo.actions is None:
            return False
        rollout = self.demo.rollout()
        for step in np.linspace(0, len(self.demo) - 1, PROBES).astype(int):
            # First as recorded: the luck is another, what wrappers have learned since is no luck.
            self.demo.restore(self._env, int(step))
            self.demo.restore(self._env, int(step), self._rng)
            with self.demo.blamed(int(step)):
                if replay(self._env, rollout, int(step), int(step) + GRACE) is not None:
                    return True
        return False


def measure(prober: Prober, rollouts: int, progress: Progress) -> Measured:
    """Plays `rollouts` from every rung of the ladder, in turns, until they or the time are over."""
    stochastic = prober.stochastic()
    tallies = [_Tally(back) for back in ladder(len(prober.demo))]
    order = [tallies[-1], *tallies[:-1]]  # the reset first: it says most
    done, ran_out = 0, False
    for turn in range(rollouts):
        for tally in order:
            if turn >= HOPELESS and _hopeless(tally, tallies):
                continue
            ran_out = time.monotonic() > prober.until or not prober.play(tally)
            if ran_out:
                break
            done += 1
            progress(done, f"{tally.steps_back} steps back")
        if ran_out:
            break
    if not tallies[-1].wins or not any(tally.wins for tally in tallies[:-1] or tallies):
        raise BackplayError(
            "seconds", expected="time for at least one rollout from the reset and one from the"
            " demonstration", got=f"{done} rollouts", do="Raise seconds.",
        )  # fmt: skip
    return Measured(
        tuple(tally.rung() for tally in tallies if tally.wins),
        tuple(prober.reset_rewards),
        tuple(prober.reset_observations),
        stochastic,
        ran_out,
    )


def _hopeless(tally: _Tally, tallies: list[_Tally]) -> bool:
    """Whether neither this rung nor the next nearer has ever succeeded; never so at the reset."""
    at = tallies.index(tally)
    return 0 < at < len(tallies) - 1 and not any(tally.wins) and not any(tallies[at - 1].wins)
