"""Networks whose products are of factors in bfloat16, against the same ones in double precision.

Rounding to bfloat16 is wrong by 2^-9 at most, to either side. Outputs and gradients have passed
some ten roundings, whose errors add up as their squares do: 2^-8 times 2 is room enough. Where a
sum is within 2^-9 of 0, a share of about 2^-10 of them, ReLU may cut off the wrong ones, and the
gradient of a single layer's random numbers is wrong by the root of that, 2^-5. A product of the
wrong factors, a term that is missing or a ReLU not passed backwards is wrong by a third or more.
"""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from gymnasium import spaces
from torch import Tensor, nn

from backplay import products
from backplay.errors import BackplayError
from backplay.learners.optimiser import FlatAdam
from backplay.learners.sparse import FactNetwork, fact_network
from backplay.products import Precision, multiply

torch.set_num_threads(1)
FACTS, MOST, ROWS = 300, 60, 500
ROUNDING, CUT = 2 * 2**-8, 2 * 2**-5


@pytest.fixture(autouse=True, params=["the operation", "by hand"])
def _in_bfloat16(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a processor that is fast at it, whatever this one is."""
    monkeypatch.setattr(products, "_FAST", True)
    if request.param == "by hand":
        monkeypatch.setattr(products, "_TAKES_BFLOAT16", False)


def some_facts(seed: int, rows: int = ROWS) -> Tensor:
    """Some facts of each sample; the first ones hold in most, the last in few."""
    rng = np.random.default_rng(seed)
    holds = rng.random((rows, FACTS)) < np.linspace(1, 0, FACTS) ** 8
    found = np.full((rows, MOST), -1, np.int32)
    for row, each in zip(found, holds, strict=True):
        facts = rng.permutation(np.flatnonzero(each))[:MOST]
        row[: len(facts)] = facts
    return torch.from_numpy(found)


def a_network(precision: Precision, **options: float) -> FactNetwork:
    space = spaces.Box(-1, FACTS - 1, (MOST,), np.int32)
    network = fact_network(
        space, spaces.Discrete(6), seed=1, width=48, hidden=(32, 24), gain=1.0, policy_gain=1.0,
        precision=precision, **options,
    )  # fmt: skip
    with torch.no_grad():  # biases that matter
        for bias in (network.first.bias, *(layer.bias for layer in network.hidden)):
            bias.copy_(torch.linspace(-1, 1, len(bias)))
    return network


class Dense(nn.Module):
    """The same function in double precision, with a one-hot matrix."""

    def __init__(self, other: FactNetwork) -> None:
        super().__init__()
        self.table = nn.Parameter(other.first.table.detach().double())
        self.bias = nn.Parameter(other.first.bias.detach().double())
        self.layers = copy.deepcopy(nn.ModuleList([*other.hidden, other.heads])).double()

    def forward(self, facts: Tensor) -> tuple[Tensor, Tensor]:
        held = torch.zeros(len(facts), len(self.table) + 1, dtype=torch.float64)
        held.scatter_(1, torch.where(facts < 0, len(self.table), facts).long(), 1.0)
        features = (held[:, :-1] @ self.table + self.bias).relu()
        for layer in self.layers[:-1]:
            features = layer(features).relu()
        both = self.layers[-1](features)
        return both[:, :-1], both[:, -1]


def loss_of(found: tuple[Tensor, Tensor]) -> Tensor:
    logits, values = found
    weights = torch.arange(logits.numel(), dtype=logits.dtype).sin().view_as(logits)
    return (weights * logits).mean() + (values - 1).square().mean()


def gradients(network: FactNetwork | Dense) -> list[Tensor]:
    """Of the first table and bias, then of weights and biases by layer."""
    if isinstance(network, Dense):
        parts = [network.table, network.bias, *network.layers.parameters()]
    else:
        parts = [*network.first.parameters(), *network.hidden.parameters()]
        parts += network.heads.parameters()
    found = [part.grad for part in parts]
    assert all(part is not None for part in found)
    return [part.detach().clone() for part in found if part is not None]


def error(found: Tensor, expected: Tensor) -> float:
    """The length of the difference, as a share."""
    assert found.shape == expected.shape
    return float((found.detach().double() - expected.detach()).norm() / expected.detach().norm())


def test_outputs_and_gradients_are_those_of_the_dense_network() -> None:
    network, facts = a_network("bfloat16"), some_facts(1)
    dense = Dense(network)
    found, expected = network(facts), dense(facts)
    for ours, exact in zip(found, expected, strict=True):
        assert ours.dtype == torch.float32
        assert 0 < error(ours, exact) < ROUNDING
    loss_of(found).backward()
    loss_of(expected).backward()
    for mine, exact in zip(gradients(network), gradients(dense), strict=True):
        assert mine.dtype == torch.float32
        assert error(mine, exact) < ROUNDING
    met = np.isin(np.arange(FACTS), facts.numpy())
    np.testing.assert_array_equal(network.first.marks, met)


def test_gradients_are_added_up() -> None:
    network, facts = a_network("bfloat16"), some_facts(2)
    loss_of(network(facts)).backward()
    once = gradients(network)
    loss_of(network(facts)).backward()
    for first, both in zip(once, gradients(network), strict=True):
        torch.testing.assert_close(both, 2 * first, rtol=1e-5, atol=1e-9)


def test_who_plays_does_so_in_float32() -> None:
    network, plain, facts = a_network("bfloat16"), a_network("float32"), some_facts(3)
    with torch.inference_mode():
        for playing, other in zip(network(facts), plain(facts), strict=True):
            assert torch.equal(playing, other)
    learning, _ = network(facts)
    assert 0 < error(learning, playing_logits(plain, facts)) < ROUNDING


def playing_logits(network: FactNetwork, facts: Tensor) -> Tensor:
    with torch.no_grad():
        logits: Tensor = network(facts)[0]
    return logits.double()


def test_a_fact_that_a_sample_has_twice_counts_twice() -> None:
    network, facts = a_network("bfloat16"), some_facts(8)
    once, twice = facts.clone(), facts.clone()
    once[:, 40:] = -1
    twice[:, 40:] = -1
    for row in range(ROWS):
        count = int((twice[row] >= 0).sum())
        twice[row, count] = twice[row, 0]
    first = network.first
    with torch.no_grad():
        exact = first(twice)
        assert error(first(once), exact.double()) > ROUNDING
    assert error(first.cut_off(twice), exact.relu().double()) < ROUNDING


def test_a_sum_is_rounded_as_torch_rounds() -> None:
    first, facts = a_network("bfloat16").first, some_facts(9, rows=100)
    with torch.no_grad():
        assert torch.equal(first.cut_off(facts), first(facts).relu().bfloat16())
        first.table.zero_()
        first.bias.copy_(1 + torch.arange(len(first.bias)) / 256)  # half of them between two
        assert torch.equal(first.cut_off(facts), first(facts).bfloat16())


def test_one_product_and_its_gradients() -> None:
    torch.manual_seed(0)
    weight, bias = torch.randn(40, 64, requires_grad=True), torch.randn(40, requires_grad=True)
    inputs = torch.randn(ROWS, 64, requires_grad=True)
    exact = [part.detach().double().requires_grad_() for part in (inputs, weight, bias)]
    weights = torch.randn(ROWS, 40)
    for relu in (False, True):
        found = multiply(inputs, weight, bias, relu=relu, precision="bfloat16")
        expected = nn.functional.linear(*exact)
        expected = expected.relu() if relu else expected
        assert found.dtype == torch.bfloat16
        assert error(found.detach(), expected.detach()) < ROUNDING
        ours = torch.autograd.grad((found.float() * weights).sum(), (inputs, weight, bias))
        theirs = torch.autograd.grad((expected * weights).sum(), exact)
        for mine, other in zip(ours, theirs, strict=True):
            assert mine.dtype == torch.float32
            assert error(mine, other) < (CUT if relu else ROUNDING)


def test_what_is_no_number_is_not_hidden() -> None:
    network, facts = a_network("bfloat16"), some_facts(4)
    with torch.no_grad():
        network.first.table[facts[7, 0]] = float("nan")
    features = network.first.cut_off(facts)
    assert features[7].isnan().all()


def test_training_takes_the_same_steps_to_the_bit_resumed_too() -> None:
    def steps(network: FactNetwork, adam: FlatAdam, numbers: range) -> None:
        for number in numbers:
            loss = loss_of(network(some_facts(number)))
            adam.step(loss, learning_rate=0.01, max_gradient_norm=0.5)

    whole = a_network("bfloat16")
    adam = FlatAdam(whole, eps=1e-5)
    steps(whole, adam, range(3))
    again = a_network("bfloat16")
    again.load_state_dict(whole.state_dict())
    resumed = FlatAdam(again, eps=1e-5)
    resumed.load_state(adam.state())
    steps(whole, adam, range(3, 6))
    steps(again, resumed, range(3, 6))
    for mine, other in zip(again.parameters(), whole.parameters(), strict=True):
        assert torch.equal(mine, other)


def test_steps_lead_where_those_in_float32_lead() -> None:
    """Adam on its own data: the loss falls as far."""
    ends = []
    for precision in ("float32", "bfloat16"):
        network = a_network(precision)
        adam = FlatAdam(network, eps=1e-5)
        facts = some_facts(5)
        wanted = torch.arange(ROWS).sin()
        for _ in range(200):
            loss = (network(facts)[1] - wanted).square().mean()
            adam.step(loss, learning_rate=3e-3, max_gradient_norm=10.0)
        ends.append(float(loss.detach()))
    assert ends[0] < 0.1
    assert abs(ends[1] - ends[0]) < 0.02


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_processor_without_instructions_multiplies_in_float32(
    precision: Precision, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(products, "_FAST", False)
    network, plain, facts = a_network(precision), a_network("float32"), some_facts(6)
    for each in (network, plain):
        loss_of(each(facts)).backward()
    for mine, other in zip(gradients(network), gradients(plain), strict=True):
        assert torch.equal(mine, other)


def test_double_precision_stays() -> None:
    network, facts = a_network("bfloat16").double(), some_facts(7)
    torch.testing.assert_close(network(facts), Dense(network)(facts), rtol=1e-10, atol=1e-10)


def test_another_precision_is_refused() -> None:
    with pytest.raises(BackplayError, match="precision"):
        a_network("float16")
