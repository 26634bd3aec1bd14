"""A learner's policy for measuring. What it draws does not disturb the training."""

from __future__ import annotations

import torch

from backplay.learners import PPO
from backplay.train.evaluate import Act


def acting(learner: PPO, *, greedy: bool = False, seed: int = 0) -> Act:
    """From a batch of observations to actions, drawn from a stream of their own or the likeliest.

    The stream begins anew with every call of this function.
    """
    generator = torch.Generator().manual_seed(seed)
    return lambda seen: learner.act(seen, greedy=greedy, generator=generator)
