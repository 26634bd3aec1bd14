"""PPO's hyperparameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import nn

from backplay.errors import BackplayError, ensure, show

HORIZON = 100  # steps ahead that count, at least
MOST_SCALE = 1e6  # times that rewards are made larger or smaller, unasked
FloatArray = NDArray[np.floating[Any]]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """Hyperparameters of PPO; its defaults were chosen on small tasks, results/learner.md."""

    num_steps: int = 256
    """Steps of each env in one rollout; the batch is envs × steps."""
    minibatch_size: int = 256
    """Samples of one gradient step, about: the batch is split evenly into minibatches near it."""
    passes: int = 8
    """Passes over the batch per update (also called epochs)."""
    minibatches_per_pass: int | None = None
    """Use only the first so many shuffled minibatches of each pass; all of them when None."""
    learning_rate: float = 1e-3
    """Adam's learning rate at the start."""
    final_learning_rate: float = 1.0
    """Share of the learning rate left at the end, reached linearly; 0 decays it to zero."""
    gamma: float | None = None
    """Discount of one step; None: 0.99, and 1 - 1/n where the longest demonstration has more than
    100 steps, n of them, so that its end still counts at its beginning."""
    reward_scale: float | None = None
    """Rewards are multiplied by it before they are learned from; None: by what makes 1 of
    `largest_return`, or of the returns of the first rollout where these are larger."""
    largest_return: float | None = None
    """Of the demonstrations, as `after` finds it; None: rewards are learned from as they are."""
    gae_lambda: float = 0.95
    """Weight of longer returns in the advantages, 0 to 1."""
    value_lambda: float | None = 1.0
    """The same in what the values learn; as in the advantages when None. Near 1 the values hear of
    a late reward at once, and the policy still of few steps' noise."""
    clip: float = 0.2
    """How far the probability ratio may move from 1 before its gain stops counting."""
    value_coefficient: float = 0.5
    """Weight of the values' mean squared error in the loss."""
    entropy_coefficient: float = 0.03
    """Weight of the policy's entropy in the loss at the start."""
    final_entropy_coefficient: float = 1.0
    """Share of the entropy coefficient left at the end, reached linearly."""
    max_gradient_norm: float = 0.5
    """Longer gradients are scaled down to this norm."""
    normalise_advantages: Literal["minibatch", "batch", "none"] = "minibatch"
    """Where advantages are scaled to mean 0, deviation 1: in each minibatch, once, or nowhere."""
    bootstrap_truncated: bool = True
    """Whether a truncated episode counts its final observation's value; if not, it just ends."""
    adam_eps: float = 1e-5
    """Adam's epsilon."""

    def __post_init__(self) -> None:
        """Refuse values that no training could mean."""
        for name in ("num_steps", "minibatch_size", "passes", "minibatches_per_pass"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise _refusal(name, "at least 1", value)
        for name in (
            "gamma", "gae_lambda", "value_lambda", "final_learning_rate",
            "final_entropy_coefficient",
        ):  # fmt: skip
            value = getattr(self, name)
            may_be_none = name in ("gamma", "value_lambda")
            if not (may_be_none and value is None) and not 0 <= value <= 1:
                raise _refusal(name, "between 0 and 1", value)
        for name in ("learning_rate", "clip", "max_gradient_norm", "adam_eps", "reward_scale"):
            value = getattr(self, name)
            if value is not None and not 0 < value < inf:
                raise _refusal(name, "more than 0", value)
        if self.largest_return is not None and not 0 <= self.largest_return < inf:
            raise _refusal("largest_return", "0 or more", self.largest_return)
        if self.normalise_advantages not in ("minibatch", "batch", "none"):
            raise _refusal(
                "normalise_advantages", '"minibatch", "batch" or "none"', self.normalise_advantages
            )

    @property
    def discount(self) -> float:
        """`gamma`, as a number where nothing is known of demonstrations."""
        return 1 - 1 / HORIZON if self.gamma is None else self.gamma

    def after(self, rewards: Sequence[FloatArray]) -> PPOConfig:
        """The same with numbers where demonstrations decide, which earned these rewards by step."""
        gamma, largest = self.gamma, self.largest_return
        if gamma is None:
            gamma = 1 - 1 / max([HORIZON, *map(len, rewards)])
        if largest is None and len(rewards):
            largest = max(
                float(np.abs(rewards_to_go(one, gamma)).max(initial=0.0)) for one in rewards
            )
        return replace(self, gamma=gamma, largest_return=largest)

    def reward_scale_for(self, earned: float) -> float:
        """What rewards are multiplied by where first returns are of this size in the mean."""
        if self.reward_scale is not None:
            return self.reward_scale
        if self.largest_return is None:
            return 1.0
        largest = max(self.largest_return, earned) or 1.0
        return 1 / min(max(largest, 1 / MOST_SCALE), MOST_SCALE)

    def learning_rate_at(self, progress: float) -> float:
        """The learning rate when a share `progress` of the training is done."""
        return self.learning_rate * (1 + (self.final_learning_rate - 1) * progress)

    def entropy_coefficient_at(self, progress: float) -> float:
        """The entropy's weight when a share `progress` of the training is done."""
        return self.entropy_coefficient * (1 + (self.final_entropy_coefficient - 1) * progress)

    def minibatch_bounds(self, batch_size: int) -> list[int]:
        """Where each used minibatch begins and the last one ends; sizes differ by one at most."""
        count = max(1, round(batch_size / self.minibatch_size))
        used = min(count, self.minibatches_per_pass or count)
        return [batch_size * i // count for i in range(used + 1)]


def rewards_to_go(rewards: FloatArray, gamma: float, ended: BoolArray | None = None) -> FloatArray:
    """What was still earned from each step on, as far as it is known: [steps, ...] as rewards."""
    found = np.array(rewards, np.float64)
    goes_on = np.ones_like(found) if ended is None else 1.0 - ended
    for step in reversed(range(len(found) - 1)):
        found[step] += gamma * goes_on[step] * found[step + 1]
    return found


def _refusal(name: str, expected: str, got: object) -> BackplayError:
    return BackplayError(
        f"PPOConfig.{name}", expected=expected, got=show(got), do="Change it, or leave its default."
    )


@dataclass(frozen=True, eq=False)
class Teacher:
    """A network to imitate at first; it is left as it is."""

    network: nn.Module
    """Maps observations to (policy parameters, values)."""
    coefficient: float = 1.0
    """Weight of the cross-entropy with its policy in the loss at the start."""
    until: float = 0.5
    """Share of the training at which that weight has fallen, linearly, to 0."""

    def __post_init__(self) -> None:
        ensure(0 < self.coefficient < float("inf"), "coefficient", "more than 0", self.coefficient)
        ensure(0 < self.until <= 1, "until", "more than 0, at most 1", self.until)

    def coefficient_at(self, progress: float) -> float:
        """The weight when a share `progress` of the training is done."""
        return self.coefficient * max(0.0, 1 - progress / self.until)

    def forget(self) -> None:
        """Drops what the network has kept of earlier batches, if it keeps anything."""
        getattr(self.network, "forget", lambda: None)()
