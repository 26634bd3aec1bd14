"""A linear layer's products by oneDNN, which takes half the time of torch's own choice.

Comes in: a layer, a batch [n, inputs]. Goes out: its outputs, with gradients. Does not know: whose
layer it is.

torch multiplies float32 matrices by MKL, which does not use all of some processors; oneDNN comes
with torch and does. Where torch has no such operation, for other types, and for small batches,
where it does not pay, the layer is called as ever.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn

LEAST = 256  # rows


def apply_linear(layer: nn.Linear, inputs: Tensor) -> Tensor:
    """layer(inputs), [n, outputs]."""
    if len(inputs) < LEAST or inputs.dtype != torch.float32 or not _AVAILABLE:
        return cast(Tensor, layer(inputs))
    return cast(Tensor, _Linear.apply(inputs, layer.weight, layer.bias))  # type: ignore[no-untyped-call]


class _Linear(torch.autograd.Function):
    """inputs @ weight.T + bias."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        return _product(inputs, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        inputs, weight = ctx.saved_tensors
        of_inputs = _product(gradient, weight.t().contiguous())
        of_weight = _product(gradient.t(), inputs.t())
        return of_inputs, of_weight, gradient.sum(0)


def _product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """The rows of left times the rows of right, and a bias, [n, m]."""
    operation = torch.ops.mkldnn._linear_pointwise
    return cast(Tensor, operation(left, right, bias, "none", [], ""))


def _works() -> bool:
    """Whether this torch has the operation, and it takes what it is given here."""
    try:
        found = _product(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4))
    except (AttributeError, RuntimeError, TypeError):
        return False
    return torch.equal(found, torch.full((2, 4), 4.0))


_AVAILABLE = _works()
