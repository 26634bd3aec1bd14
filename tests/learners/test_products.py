"""Linear layers by oneDNN against torch's own, outputs and gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from backplay.learners import products
from backplay.learners.products import LEAST, apply_linear

torch.set_num_threads(1)


def outputs_and_gradients(layer: nn.Linear, inputs: Tensor, by: object) -> list[Tensor]:
    layer.zero_grad()
    inputs = inputs.detach().clone().requires_grad_()
    found = by(inputs)  # type: ignore[operator]
    found.backward(torch.linspace(-1, 1, found.numel(), dtype=found.dtype).view_as(found))
    assert inputs.grad is not None
    assert layer.weight.grad is not None
    assert layer.bias.grad is not None
    return [found.detach(), inputs.grad, layer.weight.grad.clone(), layer.bias.grad.clone()]


@pytest.mark.parametrize("rows", [1, LEAST - 1, LEAST, 1_000])
def test_outputs_and_gradients_are_torchs(rows: int) -> None:
    torch.manual_seed(0)
    layer, inputs = nn.Linear(37, 19), torch.randn(rows, 37)
    ours = outputs_and_gradients(layer, inputs, lambda x: apply_linear(layer, x))
    exact = layer.double()
    theirs = outputs_and_gradients(exact, inputs.double(), exact)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.double(), other, rtol=2e-5, atol=2e-5)


def test_gradients_that_are_not_contiguous() -> None:
    torch.manual_seed(1)
    layer, inputs = nn.Linear(8, 6), torch.randn(300, 8)
    ours = outputs_and_gradients(layer, inputs, lambda x: apply_linear(layer, x).t())
    theirs = outputs_and_gradients(layer, inputs, lambda x: layer(x).t())
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=2e-5, atol=2e-5)


def test_other_types_and_other_torches_are_served_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(2)
    layer = nn.Linear(5, 4).double()
    inputs = torch.randn(300, 5, dtype=torch.float64)
    assert torch.equal(apply_linear(layer, inputs), layer(inputs))
    monkeypatch.setattr(products, "_AVAILABLE", False)
    single, few = layer.float(), inputs.float()
    assert torch.equal(apply_linear(single, few), single(few))
