"""Actor-critic networks for Gymnasium spaces: `network(observations) -> (parameters, values)`.

In come observation batches as tensors in the environment's own dtypes; out go policy parameters
[batch, distribution size], which `distributions` gives a meaning, and values [batch]. PPO accepts
any module of that form; this one is the default.
"""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import torch
from gymnasium import spaces
from torch import Tensor, nn

from backplay.errors import BackplayError
from backplay.learners.distributions import DiagonalGaussian, Distribution, distribution_for
from backplay.learners.encoders import Image, linear, make_encoder, size_of


def make_network(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    *,
    seed: int,
    hidden: Sequence[int] | None = None,
    hidden_gain: float = sqrt(2),
    policy_gain: float = 0.01,
    value_gain: float = 1.0,
    initial_log_std: float = 0.0,
    categorical: bool | None = None,
    channels_last: bool | None = None,
    examples: Sequence[Any] | None = None,
) -> nn.Module:
    """An actor-critic network with orthogonal initialisation.

    Without images, actor and critic are separate tanh networks; with images they share the
    convolutions and a ReLU trunk.

    Args:
        observation_space: space of one observation.
        action_space: space of one action.
        seed: seed of the initial weights.
        hidden: sizes of the hidden layers; by default (64, 64), after small images (128,), after
            large ones (512,).
        hidden_gain: gain of the hidden layers' weights.
        policy_gain: gain of the policy head; small, so that training starts near uniform.
        value_gain: gain of the value head.
        initial_log_std: log deviation continuous actions start with.
        categorical: whether integer images hold categories; guessed when None.
        channels_last: whether images are [height, width, channels]; guessed when None.
        examples: observations, such as a demonstration's: vectors are scaled to mean 0 and
            deviation 1 in them. Not scaled when None.
    """
    generator = torch.Generator().manual_seed(seed)
    encoder = make_encoder(
        observation_space, generator, categorical=categorical, channels_last=channels_last,
        examples=examples,
    )  # fmt: skip
    images = [module for module in encoder.modules() if isinstance(module, Image)]
    if hidden is None:
        large = any(image.is_large for image in images)
        hidden = ((512,) if large else (128,)) if images else (64, 64)
    trunk_kind = SharedTrunk if images else SeparateTrunks
    trunk = trunk_kind(size_of(encoder), hidden, hidden_gain, generator)
    features = hidden[-1] if hidden else size_of(encoder)
    policy = policy_head(
        distribution_for(action_space), features, policy_gain, initial_log_std, generator
    )
    return ActorCritic(encoder, trunk, policy, linear(features, 1, value_gain, generator))


def load_weights(network: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Give a network the weights of another of the same shape: the other's `state_dict()`."""
    try:
        network.load_state_dict(weights)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise BackplayError(
            "weights", expected="the state_dict() of a network of the same shape",
            got=str(error)[:200], do="Make both networks for the same spaces, in the same way.",
        ) from error  # fmt: skip


class ActorCritic(nn.Module):
    """Encoder, trunk and two heads."""

    def __init__(
        self, encoder: nn.Module, trunk: nn.Module, policy: nn.Module, value: nn.Module
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.trunk = trunk
        self.policy = policy
        self.value = value

    def forward(self, observations: Any) -> tuple[Tensor, Tensor]:
        """Policy parameters [batch, size] and values [batch]."""
        actor, critic = self.trunk(self.encoder(observations))
        return self.policy(actor), self.value(critic).squeeze(-1)


class SharedTrunk(nn.Module):
    """ReLU layers whose output serves actor and critic both."""

    def __init__(
        self, inputs: int, hidden: Sequence[int], gain: float, generator: torch.Generator
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for outputs in hidden:
            layers += [linear(inputs, outputs, gain, generator), nn.ReLU()]
            inputs = outputs
        self.layers = nn.Sequential(*layers)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        shared = self.layers(features)
        return shared, shared


class SeparateTrunks(nn.Module):
    """Tanh layers for the actor and, apart from them, for the critic.

    The two are stacked, [2, inputs, outputs], and run as one batched product: half the operations
    of two networks, and on layers this small the number of operations is the cost.
    """

    def __init__(
        self, inputs: int, hidden: Sequence[int], gain: float, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for outputs in hidden:
            pair = [torch.empty(outputs, inputs) for _ in range(2)]
            for weight in pair:
                nn.init.orthogonal_(weight, gain, generator=generator)
            self.weights.append(nn.Parameter(torch.stack([weight.T for weight in pair])))
            self.biases.append(nn.Parameter(torch.zeros(2, 1, outputs)))
            inputs = outputs

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        both = features.expand(2, -1, -1)
        for weight, bias in zip(self.weights, self.biases, strict=True):
            both = torch.baddbmm(bias, both, weight).tanh()
        actor, critic = both.unbind(0)
        return actor, critic


class GaussianHead(nn.Module):
    """Means from the features, log deviations the same in every state."""

    def __init__(self, mean: nn.Module, log_std: Tensor) -> None:
        super().__init__()
        self.mean = mean
        self.log_std = nn.Parameter(log_std)

    def forward(self, features: Tensor) -> Tensor:
        mean = self.mean(features)
        return torch.cat([mean, self.log_std.expand_as(mean)], -1)


def policy_head(
    distribution: Distribution,
    features: int,
    gain: float,
    initial_log_std: float,
    generator: torch.Generator,
) -> nn.Module:
    """The layer from features [batch, features] to the distribution's parameters."""
    if isinstance(distribution, DiagonalGaussian):
        count = distribution.size // 2
        mean = linear(features, count, gain, generator)
        return GaussianHead(mean, torch.full((count,), initial_log_std))
    return linear(features, distribution.size, gain, generator)
