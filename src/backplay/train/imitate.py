"""Imitation of recorded demonstrations: what their players saw and did, and a GAIL learner of it.

Comes in: demonstrations with actions, and how their env is made. Goes out: pairs, and what makes a
learner for `Training`. Does not know: curricula, disks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from backplay.demos import Demonstration
from backplay.errors import BackplayError, refusing
from backplay.learners import GAIL, PPO, Discriminator, Pairs
from backplay.restore.rollout import AnyEnv
from backplay.train.loop import without_words


def pairs(demos: Sequence[Demonstration]) -> Pairs:
    """What was seen and done at every step of the demonstrations."""
    for number, demo in enumerate(demos):
        if demo.actions is None:
            raise BackplayError(
                f"demonstration {number}", expected="actions: they are what is imitated",
                got="states alone", do="Learn from rewards instead: --regime ppo.",
            )  # fmt: skip
    seen = [observation for demo in demos for observation in demo.observations[:-1]]
    done = [action for demo in demos for action in demo.actions or ()]
    with refusing("What is imitated", "observations and actions of one form, in all of them"):
        return Pairs(_stacked(seen), np.array(done))


def gail(
    make_env: Callable[[], AnyEnv], demos: Sequence[Demonstration], seed: int
) -> Callable[..., PPO]:
    """Makes a learner that imitates the demonstrations; for `Training(learner=…)`."""
    env = without_words(make_env())
    try:
        judge = Discriminator.for_spaces(env.observation_space, env.action_space, seed=seed + 1)
    finally:
        env.close()
    return partial(GAIL, expert=pairs(demos), discriminator=judge)


def _stacked(observations: Sequence[Any]) -> Any:
    """Observations as one batch: an array, or a dict of such; texts are left out."""
    first = observations[0]
    if not isinstance(first, dict):
        return np.array(observations)
    numbers = {key: part for key, part in first.items() if not isinstance(part, str)}
    return {key: _stacked([one[key] for one in observations]) for key in numbers}
