"""Action distributions: what a network's policy parameters mean for an action space.

Each is a frozen value whose methods are pure functions over tensors [..., size]. Randomness comes
in as an argument: `sample(parameters, noise)` is deterministic, so that a rollout draws the noise
of all its steps at once.
"""

from dataclasses import dataclass, field
from math import log, pi
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor
from torch.nn import functional

from backplay.errors import BackplayError

FAR = 1e6
"""Bounds of an action that lie beyond this are none."""


class Distribution(Protocol):
    """A family of distributions over the actions of one space."""

    @property
    def size(self) -> int:
        """Number of policy parameters of one action."""

    def noise(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """Randomness for one sample each, [*shape, noise size]."""

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        """Actions drawn from the distributions."""

    def mode(self, parameters: Tensor) -> Tensor:
        """Most likely actions."""

    def log_prob(self, parameters: Tensor, actions: Tensor) -> Tensor:
        """Log-probability (or density) of each action, [...]."""

    def entropy(self, parameters: Tensor) -> Tensor:
        """Entropy of each distribution in nats, [...]."""

    def log_prob_and_entropy(self, parameters: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Both at once, for less work."""

    def for_env(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Actions as the environment's action space wants them."""

    def from_env(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Actions [rows, ...] of the environment's action space, as `log_prob` wants them."""


def distribution_for(space: spaces.Space[Any]) -> Distribution:
    """The distribution over an action space: categorical, several of them, or Gaussian."""
    match space:
        case spaces.Discrete():
            return Categorical(size=int(space.n), first=int(space.start))
        case spaces.MultiDiscrete():
            return MultiCategorical(
                choices=tuple(int(n) for n in space.nvec.flat),
                first=np.asarray(space.start),
            )
        case spaces.MultiBinary():
            return MultiCategorical(
                choices=(2,) * int(np.prod(space.shape)), first=np.zeros(space.shape, space.dtype)
            )
        case spaces.Box() if np.issubdtype(space.dtype, np.floating):
            return DiagonalGaussian(low=space.low, high=space.high)
        case _:
            raise BackplayError(
                "action space",
                expected="Discrete, MultiDiscrete, MultiBinary or a floating-point Box",
                got=space,
                do="Wrap the environment so that it has one of those.",
            )


def _gumbel(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Gumbel noise: the argmax of logits plus this is a sample of their softmax."""
    return -torch.empty(shape).exponential_(generator=generator).log_()


def _log_softmax(logits: Tensor) -> Tensor:
    """Over the last axis, moved to the front: torch takes a tenth of the time for few choices."""
    return functional.log_softmax(logits.movedim(-1, 0).contiguous(), 0).movedim(0, -1)


def _pick(log_probs: Tensor, actions: Tensor) -> Tensor:
    return log_probs.gather(-1, actions.unsqueeze(-1)).squeeze(-1)


def _entropy(log_probs: Tensor) -> Tensor:
    return -(log_probs.exp() * log_probs).sum(-1)


def _cross_entropy(teacher: Tensor, logits: Tensor) -> Tensor:
    return -(teacher.softmax(-1) * _log_softmax(logits)).sum(-1)


@dataclass(frozen=True, kw_only=True)
class Categorical:
    """One of `size` choices; parameters are logits [..., size], actions int64 [...]."""

    size: int
    first: int = 0
    """The environment's number for the first choice."""

    def noise(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        return _gumbel((*shape, self.size), generator)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        return (parameters + noise).argmax(-1)

    def mode(self, parameters: Tensor) -> Tensor:
        return parameters.argmax(-1)

    def log_prob(self, parameters: Tensor, actions: Tensor) -> Tensor:
        return _pick(_log_softmax(parameters), actions)

    def entropy(self, parameters: Tensor) -> Tensor:
        return _entropy(_log_softmax(parameters))

    def log_prob_and_entropy(self, parameters: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        log_probs = _log_softmax(parameters)
        return _pick(log_probs, actions), _entropy(log_probs)

    def cross_entropy(self, teacher: Tensor, parameters: Tensor) -> Tensor:
        """Cross-entropy of each distribution with the teacher's, in nats, [...]."""
        return _cross_entropy(teacher, parameters)

    def for_env(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return actions + self.first if self.first else actions

    def from_env(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return actions.astype(np.int64) - self.first


@dataclass(frozen=True, kw_only=True, eq=False)
class MultiCategorical:
    """Independent choices; parameters are their logits side by side, actions int64 [..., k]."""

    choices: tuple[int, ...]
    first: npt.NDArray[Any]
    """The environment's number for the first choice of each, in the shape of its actions."""

    @property
    def size(self) -> int:
        return sum(self.choices)

    def _parts(self, parameters: Tensor) -> tuple[Tensor, ...]:
        return torch.split(parameters, list(self.choices), -1)

    def noise(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        return _gumbel((*shape, self.size), generator)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        return self.mode(parameters + noise)

    def mode(self, parameters: Tensor) -> Tensor:
        return torch.stack([part.argmax(-1) for part in self._parts(parameters)], -1)

    def log_prob(self, parameters: Tensor, actions: Tensor) -> Tensor:
        return self.log_prob_and_entropy(parameters, actions)[0]

    def entropy(self, parameters: Tensor) -> Tensor:
        parts = self._parts(parameters)
        return torch.stack([_entropy(_log_softmax(part)) for part in parts]).sum(0)

    def log_prob_and_entropy(self, parameters: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        parts = [_log_softmax(p) for p in self._parts(parameters)]
        picked = [_pick(p, a) for p, a in zip(parts, actions.unbind(-1), strict=True)]
        return torch.stack(picked).sum(0), torch.stack([_entropy(p) for p in parts]).sum(0)

    def cross_entropy(self, teacher: Tensor, parameters: Tensor) -> Tensor:
        """Cross-entropy of each distribution with the teacher's, in nats, [...]."""
        parts = zip(self._parts(teacher), self._parts(parameters), strict=True)
        return torch.stack([_cross_entropy(*pair) for pair in parts]).sum(0)

    def for_env(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        shaped = actions.reshape(*actions.shape[:-1], *self.first.shape)
        return np.asarray(shaped + self.first, dtype=self.first.dtype)

    def from_env(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return (actions.astype(np.int64) - self.first.astype(np.int64)).reshape(len(actions), -1)


@dataclass(frozen=True, kw_only=True, eq=False)
class DiagonalGaussian:
    """Independent normals; parameters are means, then log deviations [..., 2 k].

    Actions are the unclipped samples, float32 [..., k], and log-probabilities are theirs. Where the
    environment bounds an action, 0 is the middle and 1 and -1 are the bounds; only what it receives
    is clipped to them.
    """

    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    _middle: npt.NDArray[np.float64] = field(init=False, repr=False)
    _half: npt.NDArray[np.float64] = field(init=False, repr=False)
    _widest: Tensor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Middle and half of the range of each action; 0 and 1 of what has no bounds."""
        low, high = (np.asarray(bound, np.float64) for bound in (self.low, self.high))
        bounded = (low > -FAR) & (high < FAR) & (low < high)
        low, high = np.where(bounded, low, -1.0), np.where(bounded, high, 1.0)
        object.__setattr__(self, "_middle", (low + high) / 2)
        object.__setattr__(self, "_half", (high - low) / 2)
        widest = np.where(bounded, 0.0, np.inf).ravel()
        object.__setattr__(self, "_widest", torch.as_tensor(widest, dtype=torch.float32))

    @property
    def size(self) -> int:
        return 2 * self.low.size

    def noise(self, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        return torch.randn((*shape, self.low.size), generator=generator)

    def sample(self, parameters: Tensor, noise: Tensor) -> Tensor:
        mean, log_std = parameters.chunk(2, -1)
        return torch.addcmul(mean, log_std.exp(), noise)

    def mode(self, parameters: Tensor) -> Tensor:
        return parameters.chunk(2, -1)[0]

    def log_prob(self, parameters: Tensor, actions: Tensor) -> Tensor:
        mean, log_std = parameters.chunk(2, -1)
        distance = (actions - mean) * (-log_std).exp()
        return -(0.5 * distance.square() + log_std).sum(-1) - 0.5 * log(2 * pi) * self.low.size

    def entropy(self, parameters: Tensor) -> Tensor:
        """That of the normals, none counted as wider than half of its action's range.

        What is clipped is no variety: an entropy that counts it would widen them for ever.
        """
        log_std = torch.minimum(parameters.chunk(2, -1)[1], self._widest)
        return log_std.sum(-1) + 0.5 * (1 + log(2 * pi)) * self.low.size

    def log_prob_and_entropy(self, parameters: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        return self.log_prob(parameters, actions), self.entropy(parameters)

    def for_env(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        shaped = actions.reshape(*actions.shape[:-1], *self.low.shape) * self._half + self._middle
        return np.asarray(np.clip(shaped, self.low, self.high), dtype=self.low.dtype)

    def from_env(self, actions: npt.NDArray[Any]) -> npt.NDArray[Any]:
        shares = (actions.astype(np.float64) - self._middle) / self._half
        return shares.astype(np.float32).reshape(len(actions), -1)
