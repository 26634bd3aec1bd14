"""Behavioural cloning: a network learns to act as demonstrations did, by maximum likelihood.

In come a network, observations and the actions taken in them; out go the loss and the agreement
after each pass, while the network changes in place. Whoever drives the iterator stops when it
likes. Knows nothing of demonstrations or environments. The value head is not trained.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from gymnasium import spaces
from torch import Tensor, nn

from backplay.errors import BackplayError, ensure
from backplay.learners.distributions import DiagonalGaussian, Distribution, distribution_for
from backplay.learners.observations import Arrays, Tensors, as_tensors, numeric, rows_of
from backplay.learners.optimiser import FlatAdam


class Pairs(NamedTuple):
    """What an expert saw and did."""

    observations: Any
    """An array [pairs, ...] or a dict of such."""
    actions: npt.NDArray[Any]
    """[pairs, ...], as the environment takes them."""


class CloningProgress(NamedTuple):
    """Where cloning stands after one pass over the pairs."""

    epoch: int
    """Passes so far."""
    loss: float
    """Mean negative log-likelihood of the actions during this pass."""
    agreement: float | None
    """Share of the pairs whose action is the network's most likely one, after this pass; None for
    continuous actions, which never agree."""


def clone(
    network: nn.Module,
    observations: Any,
    actions: npt.NDArray[Any],
    *,
    action_space: spaces.Space[Any],
    epochs: int = 1_000,
    minibatch_size: int = 256,
    learning_rate: float = 7e-4,
    adam_eps: float = 1e-5,
    max_gradient_norm: float = 0.5,
    agreement: float = 1.0,
    seed: int,
) -> Iterator[CloningProgress]:
    """Trains the network on pairs until it agrees with them; yields after every pass.

    The optimiser's defaults are those of the paper's public code. Nothing happens before the first
    `next`, and the network can be used, saved or copied between two of them.

    Args:
        network: maps observations to (policy parameters, values), see `networks`.
        observations: what was seen, an array [pairs, ...] or a dict of such.
        actions: what was done, [pairs, ...], as the environment takes it.
        action_space: space of one action.
        epochs: most passes over the pairs.
        minibatch_size: pairs of one gradient step, about.
        learning_rate: Adam's.
        adam_eps: Adam's epsilon.
        max_gradient_norm: longer gradients are scaled down to this norm.
        agreement: stop when this share of the greedy actions is as demonstrated.
        seed: of the shuffling.
    """
    distribution = distribution_for(action_space)
    seen, taken = checked_pairs(observations, actions, action_space)
    for name, number in (("epochs", epochs), ("minibatch_size", minibatch_size)):
        ensure(number >= 1, name, "at least 1", number)
    wanted = None if isinstance(distribution, DiagonalGaussian) else agreement
    return _passes(
        network, distribution, as_tensors(seen), torch.from_numpy(taken),
        epochs, max(1, round(len(taken) / minibatch_size)), wanted,
        (learning_rate, adam_eps, max_gradient_norm), seed,
    )  # fmt: skip


def _passes(
    network: nn.Module,
    distribution: Distribution,
    observations: Tensors,
    actions: Tensor,
    epochs: int,
    minibatches: int,
    wanted: float | None,
    optimiser: tuple[float, float, float],
    seed: int,
) -> Iterator[CloningProgress]:
    """Passes over shuffled pairs; see `clone`."""
    learning_rate, eps, norm = optimiser
    adam = FlatAdam(network, eps=eps)
    generator = torch.Generator().manual_seed(seed)
    bounds = [len(actions) * i // minibatches for i in range(minibatches + 1)]
    for epoch in range(1, epochs + 1):
        order = torch.randperm(len(actions), generator=generator)
        total = 0.0
        for first, last in pairwise(bounds):
            rows = order[first:last]
            parameters, _ = network(rows_of(observations, rows))
            losses = -distribution.log_prob(parameters, actions[rows])
            adam.step(losses.mean(), learning_rate=learning_rate, max_gradient_norm=norm)
            total += float(losses.detach().sum())
        agreed = None
        if wanted is not None:
            parts = order.tensor_split(bounds[1:-1])
            agreed = _agreement(network, distribution, observations, actions, parts)
        yield CloningProgress(epoch, total / len(actions), agreed)
        if wanted is not None and agreed is not None and agreed >= wanted:
            return


def _agreement(
    network: nn.Module,
    distribution: Distribution,
    observations: Tensors,
    actions: Tensor,
    parts: tuple[Tensor, ...],
) -> float:
    """Share of the pairs whose action is the most likely one, computed part by part."""
    agreed = 0
    with torch.inference_mode():
        for rows in parts:
            modes = distribution.mode(network(rows_of(observations, rows))[0])
            agreed += int((modes == actions[rows]).reshape(len(rows), -1).all(1).sum())
    return agreed / len(actions)


def checked_pairs(
    observations: Any, actions: Any, action_space: spaces.Space[Any]
) -> tuple[Arrays, npt.NDArray[Any]]:
    """The pairs as a learner needs them, refused unless there is an action for each observation."""
    seen = numeric(observations)
    taken = distribution_for(action_space).from_env(_checked(actions, action_space))
    _require_pairs(seen, len(taken))
    return seen, taken


def _checked(actions: Any, space: spaces.Space[Any]) -> npt.NDArray[Any]:
    """The actions as an array [pairs, ...], refused unless each is one of the space's."""
    array = np.asarray(actions)
    shape: tuple[int, ...] = space.shape or ()
    fits = array.ndim > 0 and len(array) > 0 and array.shape[1:] == shape
    if isinstance(space, spaces.Box):
        fits = fits and array.dtype.kind in "iuf" and bool(np.isfinite(array).all())
    else:
        fits = fits and array.dtype.kind in "iu"
        fits = fits and all(space.contains(one.astype(space.dtype)) for one in array)
    ensure(
        fits, "actions", f"an array [pairs, ...] of actions of {space}", actions,
        do="Give them as the environment takes them: np.array(demo.actions).",
    )  # fmt: skip
    return array


def _require_pairs(observations: Arrays, pairs: int) -> None:
    if isinstance(observations, dict):
        for part in observations.values():
            _require_pairs(part, pairs)
    elif len(observations) != pairs:
        raise BackplayError(
            "observations", expected=f"{pairs}, one for each action", got=len(observations),
            do="Leave out the observation of a demonstration's end: no action follows it.",
        )  # fmt: skip
