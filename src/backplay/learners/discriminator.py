"""A discriminator: tells an expert's pairs of observation and action from a policy's.

In come pairs; out go scores [rows], the log-odds that a pair is the expert's. At its optimum the
score is the log of how much more often the expert's pairs are such than the policy's. Does not
know: what the scores are for, or how it is trained.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor, nn

from backplay.learners.distributions import Distribution, distribution_for
from backplay.learners.networks import make_network
from backplay.learners.observations import Tensors


class Discriminator(nn.Module):
    """Scores of pairs, from a network of the form that policies have.

    Of one discrete action the network has a logit for each, and the score is the chosen one's. Of
    other actions it sees observation and action together, and the score is its value.
    """

    def __init__(self, network: nn.Module, action_space: spaces.Space[Any]) -> None:
        """A discriminator around a network; see `for_spaces`."""
        super().__init__()
        self.network = network
        self._distribution: Distribution = distribution_for(action_space)
        self._by_action = isinstance(action_space, spaces.Discrete)

    @classmethod
    def for_spaces(
        cls,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *,
        seed: int,
        network: Callable[..., nn.Module] = make_network,
    ) -> Discriminator:
        """A discriminator for observations and actions of these spaces.

        Args:
            observation_space: space of one observation.
            action_space: space of one action.
            seed: of the initial weights.
            network: makes networks for discrete actions, as it makes the policy's; pairs with other
                actions are seen by `make_network`'s.
        """
        if isinstance(action_space, spaces.Discrete):
            return cls(network(observation_space, action_space, seed=seed), action_space)
        pair = spaces.Dict({"observation": observation_space, "action": action_space})
        undecided = make_network(pair, spaces.Discrete(2), seed=seed, value_gain=0.01)
        return cls(undecided, action_space)

    def forward(self, observations: Tensors, actions: Tensor) -> Tensor:
        """Scores [rows] of observations [rows, ...] and actions as the distribution has them."""
        if self._by_action:
            logits: Tensor = self.network(observations)[0]
            return logits.gather(1, actions.unsqueeze(1)).squeeze(1)
        done: npt.NDArray[Any] = self._distribution.for_env(actions.numpy())
        pair = {"observation": observations, "action": torch.from_numpy(np.ascontiguousarray(done))}
        values: Tensor = self.network(pair)[1]
        return values
