"""Linear layers by oneDNN against torch's own, outputs and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from backplay import products
from backplay.products import LEAST, multiply

torch.set_num_threads(1)


def outputs_and_gradients(layer: nn.Linear, inputs: Tensor, by: object) -> list[Tensor]:
    layer.zero_grad()
    inputs = inputs.detach().clone().requires_grad_()
    found = by(inputs)
    found.backward(torch.arange(found.numel()).sin().view_as(found).to(found.dtype))
    assert inputs.grad is not None
    return [found.detach(), inputs.grad, layer.weight.grad.clone(), layer.bias.grad.clone()]


@pytest.mark.parametrize("outputs", [19, 61])
@pytest.mark.parametrize("rows", [1, LEAST - 1, LEAST, 1_000])
def test_outputs_and_gradients_are_torchs(rows: int, outputs: int) -> None:
    torch.manual_seed(0)
    layer, inputs = nn.Linear(37, outputs), torch.randn(rows, 37)
    ours = outputs_and_gradients(layer, inputs, lambda x: multiply(x, layer.weight, layer.bias))
    exact = layer.double()
    theirs = outputs_and_gradients(exact, inputs.double(), exact)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.double(), other, rtol=2e-5, atol=2e-5)


def test_without_a_bias_and_for_inputs_without_gradients() -> None:
    torch.manual_seed(3)
    weight, inputs = torch.randn(9, 5, requires_grad=True), torch.randn(LEAST, 5)
    (ours,) = torch.autograd.grad(multiply(inputs, weight).square().sum(), weight)
    (theirs,) = torch.autograd.grad((inputs @ weight.t()).square().sum(), weight)
    torch.testing.assert_close(ours, theirs, rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("rows", [LEAST - 1, LEAST])
def test_what_is_negative_is_cut_off_if_wanted(rows: int) -> None:
    torch.manual_seed(4)
    layer, inputs = nn.Linear(37, 19), torch.randn(rows, 37)
    ours = outputs_and_gradients(
        layer, inputs, lambda x: multiply(x, layer.weight, layer.bias, relu=True)
    )
    theirs = outputs_and_gradients(layer, inputs, lambda x: layer(x).relu())
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=2e-5, atol=2e-5)


def test_gradients_that_are_not_contiguous() -> None:
    torch.manual_seed(1)
    layer, inputs = nn.Linear(8, 6), torch.randn(300, 8)
    ours = outputs_and_gradients(layer, inputs, lambda x: multiply(x, layer.weight, layer.bias).t())
    theirs = outputs_and_gradients(layer, inputs, lambda x: layer(x).t())
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=2e-5, atol=2e-5)


def test_other_types_and_other_torches_are_served_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(2)
    layer = nn.Linear(5, 4).double()
    inputs = torch.randn(300, 5, dtype=torch.float64)
    assert torch.equal(multiply(inputs, layer.weight, layer.bias), layer(inputs))
    monkeypatch.setattr(products, "_AVAILABLE", False)
    single, few = layer.float(), inputs.float()
    assert torch.equal(multiply(few, single.weight, single.bias), single(few))
