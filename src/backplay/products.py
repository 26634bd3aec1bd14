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


def multiply(
    inputs: Tensor, weight: Tensor, bias: Tensor | None = None, *, relu: bool = False
) -> Tensor:
    """Inputs @ weight.T + bias, [n, outputs]; with `relu`, 0 where that is less."""
    if len(inputs) < LEAST or inputs.dtype != torch.float32 or not _AVAILABLE:
        outputs = functional.linear(inputs, weight, bias)
        return outputs.relu_() if relu else outputs
    return cast(Tensor, _Linear.apply(inputs, weight, bias, relu))  # type: ignore[no-untyped-call]


class _Linear(torch.autograd.Function):
    """inputs @ weight.T + bias, and what is negative cut off if wanted."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None, relu: bool
    ) -> Tensor:
        outputs = _product(inputs, weight, bias, relu)
        ctx.save_for_backward(inputs, weight, *([outputs] if relu else []))
        ctx.biased = bias is not None
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor | None, None]:
        inputs, weight, *cut = ctx.saved_tensors
        for outputs in cut:
            gradient = torch.ops.aten.threshold_backward(gradient, outputs, 0)
        asked = ctx.needs_input_grad[0]
        of_inputs = _product(gradient, weight.t().contiguous()) if asked else None
        # By torch: oneDNN would copy both, as it wants rows.
        of_weight = gradient.t() @ inputs
        return of_inputs, of_weight, gradient.sum(0) if ctx.biased else None, None


def _product(left: Tensor, right: Tensor, bias: Tensor | None = None, relu: bool = False) -> Tensor:
    """The rows of left times the rows of right, and a bias, [n, m]."""
    operation = torch.ops.mkldnn._linear_pointwise
    return cast(Tensor, operation(left, right, bias, "relu" if relu else "none", [], ""))


def _works() -> bool:
    """Whether this torch has the operation, and it takes what it is given here."""
    try:
        found = _product(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4))
    except (AttributeError, RuntimeError, TypeError):
        return False
    return torch.equal(found, torch.full((2, 4), 4.0))


_AVAILABLE = _works()
