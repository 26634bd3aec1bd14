"""Sums of table rows against one-hot matrices, and Adam on rows against torch's on all of them."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor, nn

from backplay.errors import BackplayError
from backplay.learners.optimiser import FlatAdam
from backplay.learners.sparse import FactNetwork, FactSum, fact_network, within

torch.set_num_threads(1)
FACTS, MOST, WIDTH = 50, 13, 19


def some_facts(n: int, seed: int, facts: int = FACTS) -> Tensor:
    """Between none and MOST facts a sample; behind a negative number anything may stand."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, facts, (n, MOST)).astype(np.int32)
    for row, count in zip(rows, rng.integers(0, MOST + 1, n), strict=True):
        row[count : count + 1] = -1
    return torch.from_numpy(rows)


def one_hot(facts: Tensor, size: int = FACTS) -> Tensor:
    """How often each sample has each fact, [n, size]."""
    dense = torch.zeros(len(facts), size, dtype=torch.float64)
    for sample, row in zip(dense, facts.tolist(), strict=True):
        for fact in row:
            if fact < 0:
                break
            sample[fact] += 1
    return dense


def a_layer(dtype: torch.dtype = torch.float32) -> FactSum:
    layer = FactSum(FACTS, WIDTH, typical=6, generator=torch.Generator().manual_seed(0)).to(dtype)
    with torch.no_grad():
        layer.bias.copy_(torch.linspace(-1, 1, WIDTH))
    return layer


@pytest.mark.parametrize(("dtype", "close"), [(torch.float32, 1e-5), (torch.float64, 1e-13)])
def test_sums_and_gradients_are_those_of_a_one_hot_matrix(dtype: torch.dtype, close: float) -> None:
    layer, facts = a_layer(dtype), some_facts(40, seed=1)
    table, bias = (part.detach().double().requires_grad_() for part in (layer.table, layer.bias))
    weights = torch.randn(40, WIDTH, generator=torch.Generator().manual_seed(2))
    expected = one_hot(facts) @ table + bias
    found = layer(facts)
    torch.testing.assert_close(found.double(), expected, rtol=close, atol=close)
    for _ in range(2):  # gradients are added up, as torch does
        (layer(facts) * weights.to(dtype)).sum().backward()
        ((one_hot(facts) @ table + bias) * weights).sum().backward()
    torch.testing.assert_close(layer.table.grad.double(), table.grad, rtol=close, atol=close)
    torch.testing.assert_close(layer.bias.grad.double(), bias.grad, rtol=close, atol=close)
    np.testing.assert_array_equal(layer.marks, one_hot(facts).sum(0).numpy() > 0)


def test_the_same_facts_give_the_same_bits() -> None:
    found = []
    for _ in range(2):
        layer = a_layer()
        layer(some_facts(300, seed=3)).square().sum().backward()
        found.append(layer.table.grad.numpy().tobytes())
    assert found[0] == found[1]


class Dense(nn.Module):
    """The same network with a one-hot matrix, which knows nothing of tables."""

    def __init__(self, other: FactNetwork) -> None:
        super().__init__()
        self.table = nn.Parameter(other.first.table.detach().clone())
        self.bias = nn.Parameter(other.first.bias.detach().clone())
        self.hidden, self.heads = copy.deepcopy(other.hidden), copy.deepcopy(other.heads)

    def forward(self, facts: Tensor) -> tuple[Tensor, Tensor]:
        features = (one_hot(facts, len(self.table)) @ self.table + self.bias).relu()
        for layer in self.hidden:
            features = layer(features).relu()
        both = self.heads(features)
        return both[:, :-1], both[:, -1]


def a_network(facts: int = FACTS) -> FactNetwork:
    space = spaces.Box(-1, facts - 1, (MOST,), np.int32)
    return fact_network(space, spaces.Discrete(6), seed=1, width=24, hidden=(16, 8)).double()


def loss_of(network: nn.Module, facts: Tensor) -> Tensor:
    logits, values = network(facts)
    return logits.square().sum() + (values - 3).square().sum()


def test_adam_by_rows_is_adam() -> None:
    network = a_network()
    dense = Dense(network)
    ours, torchs = FlatAdam(network, eps=1e-5), FlatAdam(dense, eps=1e-5)
    for number in range(12):
        # At first a part of the facts alone: rows come to have momentum one after another.
        facts = some_facts(30, seed=number, facts=10 + 4 * min(number, 9))
        rate, most = 0.01 / (1 + number), 0.5 if number % 2 else 1e6
        norms = [
            adam.step(loss_of(net, facts), learning_rate=rate, max_gradient_norm=most)
            for adam, net in ((ours, network), (torchs, dense))
        ]
        torch.testing.assert_close(*norms, rtol=1e-10, atol=1e-12)
        torch.testing.assert_close(network.first.table, dense.table, rtol=1e-10, atol=1e-12)
    for mine, theirs in zip(network.hidden.parameters(), dense.hidden.parameters(), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=1e-10, atol=1e-12)


def test_rows_that_never_held_stay_where_they_are() -> None:
    network = a_network()
    before = network.first.table.detach().clone()
    adam = FlatAdam(network, eps=1e-5)
    adam.step(loss_of(network, some_facts(30, 0, 20)), learning_rate=0.1, max_gradient_norm=1.0)
    moved = (network.first.table != before).any(1)
    assert moved[:20].all()
    assert not moved[20:].any()


def test_a_resumed_optimiser_takes_the_same_steps_to_the_bit() -> None:
    def steps(network: FactNetwork, adam: FlatAdam, numbers: range) -> None:
        for number in numbers:
            facts = some_facts(30, seed=number, facts=20 + 5 * number)
            adam.step(loss_of(network, facts), learning_rate=0.01, max_gradient_norm=0.5)

    whole = a_network().float()
    adam = FlatAdam(whole, eps=1e-5)
    steps(whole, adam, range(3))
    again = a_network().float()
    again.load_state_dict(whole.state_dict())
    resumed = FlatAdam(again, eps=1e-5)
    resumed.load_state(adam.state())
    steps(whole, adam, range(3, 6))
    steps(again, resumed, range(3, 6))
    assert again.first.table.detach().numpy().tobytes() == (
        whole.first.table.detach().numpy().tobytes()
    )


def test_a_copy_is_a_network_of_its_own() -> None:
    network = a_network()
    other = copy.deepcopy(network)
    facts = some_facts(9, 0)
    adam = FlatAdam(network, eps=1e-5)
    before = other(facts)[1]
    adam.step(loss_of(network, facts), learning_rate=0.1, max_gradient_norm=1.0)
    torch.testing.assert_close(other(facts)[1], before)
    assert not torch.equal(network(facts)[1], before)
    assert other.first.marks.sum() == 0


def test_values_stay_within_a_bound() -> None:
    space = spaces.Box(-1, FACTS - 1, (MOST,), np.int32)
    free, bound = (
        fact_network(space, spaces.Discrete(6), seed=1, value_gain=50.0, bound=limit)
        for limit in (None, 3.0)
    )
    facts = some_facts(200, seed=2)
    (logits, values), (same, squeezed) = free(facts), bound(facts)
    assert values.abs().max() > 3
    torch.testing.assert_close(squeezed, 3 * (values / 3).tanh())
    torch.testing.assert_close(logits, same)
    with torch.no_grad():  # the shorter way, when nobody learns
        for shorter, longer in zip(bound(facts), (same, squeezed), strict=True):
            torch.testing.assert_close(shorter, longer)


def test_other_spaces_are_refused() -> None:
    with pytest.raises(BackplayError, match="a box of facts' numbers"):
        fact_network(spaces.Box(0, 1, (3,)), spaces.Discrete(6), seed=0)
    with pytest.raises(BackplayError, match="action space"):
        fact_network(spaces.Box(-1, 9, (3,), np.int32), spaces.Box(0, 1, (1,)), seed=0)


def test_learners_do_not_import_numba() -> None:
    """Who has no facts needs no numba."""
    code = "import sys, backplay.learners; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_squared_error_moves_squeezed_values_as_a_chances_cross_entropy_does() -> None:
    """(v - t)^2 / 2 of v = tanh z, against the cross-entropy of the chances (1 + v) / 2."""
    z = torch.linspace(-4, 4, 9, dtype=torch.float64).requires_grad_()
    targets = torch.linspace(-1, 1, 9, dtype=torch.float64).flip(0)
    ((within(z, 1.0) - targets).square() / 2).sum().backward()
    ours = z.grad
    z.grad = None
    chances, wanted = (2 * z).sigmoid(), (1 + targets) / 2
    nn.functional.binary_cross_entropy(chances, wanted, reduction="sum").backward()
    torch.testing.assert_close(ours, z.grad)


def test_compact_facts_say_the_same() -> None:
    """Behind a negative number anything may stand: what is counted there costs room, no more."""
    network, facts = a_network(), some_facts(40, seed=4)
    facts[:, 9:] = -1
    fewer = network.compact(facts)
    assert fewer.shape == (40, 9)
    torch.testing.assert_close(network(fewer.contiguous()), network(facts))
    assert network.compact(facts[:0]).shape == (0, 0)
