"""A linear layer's products by oneDNN, which takes half the time of torch's own choice.

Comes in: a batch [n, inputs], weights, a bias. Goes out: outputs, with gradients. Does not know:
whose layer it is.

torch multiplies float32 matrices by MKL, which does not use all of some processors; oneDNN comes
with torch and does. Where torch has no such operation, for other types, and for small batches,
where it does not pay, torch chooses as ever.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

LEAST = 256  # rows


def multiply(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Inputs @ weight.T + bias, [n, outputs]."""
    if len(inputs) < LEAST or inputs.dtype != torch.float32 or not _AVAILABLE:
        return functional.linear(inputs, weight, bias)
    return cast(Tensor, _Linear.apply(inputs, weight, bias))  # type: ignore[no-untyped-call]


class _Linear(torch.autograd.Function):
    """inputs @ weight.T + bias."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        ctx.biased = bias is not None
        return _product(inputs, weight, bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor | None]:
        inputs, weight = ctx.saved_tensors
        asked = ctx.needs_input_grad[0]
        of_inputs = _product(gradient, weight.t().contiguous()) if asked else None
        if len(weight) > weight.shape[1]:  # the shorter side first: half the time
            of_weight = _product(inputs.t(), gradient.t()).t()
        else:
            of_weight = _product(gradient.t(), inputs.t())
        return of_inputs, of_weight, gradient.sum(0) if ctx.biased else None


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
