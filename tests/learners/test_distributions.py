"""Distributions of actions, against torch's own."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import distributions as reference

from backplay.learners.distributions import distribution_for

ACTIONS = [
    (spaces.Discrete(5), 5),
    (spaces.MultiDiscrete([2, 3]), 5),
    (spaces.MultiBinary(3), 6),
    (spaces.Box(-1, 1, (2, 2)), 8),
]


def references(space: spaces.Space[Any], parameters: torch.Tensor) -> list[Any]:
    """The same distributions from torch: one for each component of the action."""
    match space:
        case spaces.Discrete():
            return [reference.Categorical(logits=parameters)]
        case spaces.MultiDiscrete() | spaces.MultiBinary():
            sizes = list(space.nvec) if isinstance(space, spaces.MultiDiscrete) else [2] * space.n
            parts = parameters.split([int(n) for n in sizes], -1)
            return [reference.Categorical(logits=part) for part in parts]
        case _:
            mean, log_std = parameters.chunk(2, -1)
            pairs = zip(mean.unbind(-1), log_std.exp().unbind(-1), strict=True)
            return [reference.Normal(*pair) for pair in pairs]


@pytest.mark.parametrize(("space", "size"), ACTIONS, ids=str)
def test_distributions_agree_with_torch(space: spaces.Space[Any], size: int) -> None:
    distribution = distribution_for(space)
    generator = torch.Generator().manual_seed(0)
    parameters = torch.randn(7, size, generator=generator)
    actions = distribution.sample(parameters, distribution.noise((7,), generator))
    parts = references(space, parameters)
    columns = [actions] if len(parts) == 1 else actions.unbind(-1)
    log_prob = sum(p.log_prob(a) for p, a in zip(parts, columns, strict=True))
    held = parameters
    if isinstance(space, spaces.Box):  # none counts as wider than half of its action's range
        mean, log_std = parameters.chunk(2, -1)
        bounded = torch.from_numpy(np.isfinite(space.high).ravel())
        held = torch.cat([mean, torch.where(bounded & (log_std > 0), 0.0, log_std)], -1)
    entropy = sum(p.entropy() for p in references(space, held))
    torch.testing.assert_close(distribution.log_prob(parameters, actions), log_prob)
    torch.testing.assert_close(distribution.entropy(parameters), entropy)
    for left, right in zip(
        distribution.log_prob_and_entropy(parameters, actions), (log_prob, entropy), strict=True
    ):
        torch.testing.assert_close(left, right)
    mode = distribution.mode(parameters)
    assert (distribution.log_prob(parameters, mode) >= log_prob - 1e-5).all()
    assert all(space.contains(action) for action in distribution.for_env(actions.numpy()))


def test_actions_are_shares_of_their_range() -> None:
    far = np.finfo(np.float32).max
    space = spaces.Box(
        np.array([[10.0, -2.0, -np.inf], [0.0, -far, 3.0]], np.float32),
        np.array([[30.0, 2.0, np.inf], [0.5, far, 3.0]], np.float32),
    )
    distribution = distribution_for(space)
    shares = np.array([[0, 1, 7, -1, 7, 0], [0.5, -3, -7, 0, -7, 0]], np.float32)
    actions = np.array([[[20, 2, 7], [0, 7, 3]], [[25, -2, -7], [0.25, -7, 3]]], np.float32)
    np.testing.assert_array_equal(distribution.for_env(shares), actions)
    within = shares.copy()
    within[1, 1], within[:, 5] = -1, actions[:, 1, 2]  # clipped; one value alone is as it is
    np.testing.assert_array_equal(distribution.from_env(actions), within)


def test_an_entropy_widens_no_noise_beyond_the_range() -> None:
    spaces_and_pulls = [(spaces.Box(-5, 5, (1,)), 0.0), (spaces.Box(-np.inf, np.inf, (1,)), 1.0)]
    for space, pull in spaces_and_pulls:
        for log_std, expected in ((-0.1, 1.0), (0.1, pull)):
            parameters = torch.tensor([[0.3, log_std]], requires_grad=True)
            distribution_for(space).entropy(parameters).sum().backward()
            assert parameters.grad.tolist() == [[0.0, expected]]


@pytest.mark.parametrize(("space", "size"), ACTIONS, ids=str)
def test_samples_follow_the_distribution(space: spaces.Space[Any], size: int) -> None:
    distribution = distribution_for(space)
    generator = torch.Generator().manual_seed(0)
    parameters = torch.randn(size, generator=generator).expand(40_000, -1)
    actions = distribution.sample(parameters, distribution.noise((40_000,), generator))
    parts = references(space, parameters[0])
    columns = [actions] if len(parts) == 1 else actions.unbind(-1)
    for part, column in zip(parts, columns, strict=True):
        if isinstance(part, reference.Normal):
            assert column.mean() == pytest.approx(float(part.mean), abs=0.05)
            assert column.std() == pytest.approx(float(part.stddev), rel=0.03)
        else:
            shares = torch.bincount(column, minlength=len(part.probs)) / len(column)
            torch.testing.assert_close(shares, part.probs, atol=0.01, rtol=0)


def test_only_the_environment_sees_clipped_actions() -> None:
    distribution = distribution_for(spaces.Box(-1, 1, (2,)))
    np.testing.assert_array_equal(
        distribution.for_env(np.array([[0.5, 3.0]], np.float32)), [[0.5, 1.0]]
    )
    parameters = torch.zeros(1, 4)
    inside, outside = torch.tensor([[0.0, 1.0]]), torch.tensor([[0.0, 3.0]])
    difference = distribution.log_prob(parameters, inside) - distribution.log_prob(
        parameters, outside
    )
    assert float(difference) == pytest.approx((9 - 1) / 2)
