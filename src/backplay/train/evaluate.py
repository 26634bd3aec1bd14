"""How good a policy is from the true start. Never sees a curriculum.

In come a way to make plain environments and a policy over batches; out go the results of episodes,
each from its own seed, so that what a policy without chance does is the same however many run side
by side.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import concatenate, create_empty_array
from numpy.typing import NDArray

from backplay.demos.doubts import BackplayWarning, KeyWatch
from backplay.demos.success import Ending, SuccessRule
from backplay.rates import wilson
from backplay.restore.rollout import AnyEnv

LONGEST = 30_000  # steps of an episode; Atari's longest, which end by themselves, have 27,000
ENDLESS = (
    f"an episode did not end within {LONGEST:,} steps and counts as a failure; give the env a time"
    " limit: gymnasium.wrappers.TimeLimit, or truncated=True from its step"
)
Act = Callable[[Any], Any]
"""From a batch of observations to a batch of actions."""


@dataclass(frozen=True)
class Evaluation:
    """The results of episodes from the true start, [episodes] each."""

    successes: NDArray[np.bool_]
    returns: NDArray[np.float64]
    lengths: NDArray[np.int64]

    @property
    def success(self) -> float:
        """The share of successes."""
        return float(self.successes.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the success rate."""
        return wilson(int(self.successes.sum()), len(self.successes))

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"success {self.success:.0%} [{low:.0%}, {high:.0%}] over {len(self.successes)}"
            f" episodes, return {self.returns.mean():.3g}, length {self.lengths.mean():.0f}"
        )


def evaluate(
    make_env: Callable[[], AnyEnv],
    act: Act,
    succeeded: SuccessRule,
    *,
    episodes: int = 100,
    seed: int = 10_000,
    parallel: int = 16,
) -> Evaluation:
    """Plays `episodes` episodes from `reset(seed + i)` and says what came of them.

    Args:
        make_env: makes the environment, without BackplayEnv.
        act: the policy.
        succeeded: which endings count as success.
        episodes: how many.
        seed: of the first episode; the next has the next.
        parallel: how many envs to step in turn, so that `act` gets batches.
    """
    envs = [make_env() for _ in range(min(parallel, episodes))]
    successes = np.zeros(episodes, np.bool_)
    returns = np.zeros(episodes)
    lengths = np.zeros(episodes, np.int64)
    waiting = list(range(episodes))[::-1]
    playing: dict[int, int] = {}  # env -> episode
    observations: dict[int, Any] = {}
    watch = KeyWatch(succeeded)

    def begin(i: int) -> None:
        playing[i] = waiting.pop()
        observations[i], _ = envs[i].reset(seed=seed + playing[i])

    for i in range(len(envs)):
        begin(i)
    try:
        while playing:
            active = sorted(playing)
            actions = act(batch_of(envs[0].observation_space, [observations[i] for i in active]))
            for i, action in zip(active, actions, strict=True):
                observation, reward, terminated, truncated, info = envs[i].step(action)
                episode = playing[i]
                observations[i] = observation
                returns[episode] += float(reward)
                lengths[episode] += 1
                if terminated or truncated:
                    end = Ending(
                        None, float(returns[episode]), int(lengths[episode]),
                        float(reward), bool(terminated), bool(truncated), info,
                    )  # fmt: skip
                    successes[episode] = succeeded(end)
                    watch.saw(info)
                elif lengths[episode] >= LONGEST:
                    warnings.warn(ENDLESS, BackplayWarning, stacklevel=2)
                else:
                    continue
                del playing[i]
                if waiting:
                    begin(i)
    finally:
        for env in envs:
            env.close()
    return Evaluation(successes, returns, lengths)


def batch_of(space: spaces.Space[Any], observations: Sequence[Any]) -> Any:
    """Observations of `space` as one batch, as gymnasium.vector makes them: arrays are [n, ...]."""
    empty: Any = create_empty_array(space, n=len(observations))
    return concatenate(space, observations, empty)
