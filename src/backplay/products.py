"""A linear layer's products by oneDNN, which takes half the time of torch's own choice.

Comes in: a batch [n, inputs], weights, a bias. Goes out: outputs, with gradients. Does not know:
whose layer it is.

torch multiplies float32 matrices by MKL, which does not use all of some processors; oneDNN comes
with torch and does. Where torch has no such operation, for other types, and for small batches,
where it does not pay, torch chooses as ever.

With the precision "bfloat16" both factors of every product, forward and backward, are rounded to
bfloat16 (8 bits of mantissa, float32's range) and the sums are float32, where gradients are asked
for: who only plays does so in float32. A processor with instructions for it takes a sixth of the
time. One without them multiplies in float32 as ever.
"""

from __future__ import annotations

from typing import Any, Literal, cast, get_args

import torch
from torch import Tensor
from torch.nn import functional

LEAST = 256  # rows

Precision = Literal["float32", "bfloat16"]
"""To what the factors of products are rounded."""
PRECISIONS: tuple[str, ...] = get_args(Precision)


def rounds(precision: Precision, weight: Tensor) -> bool:
    """Whether products with these weights are of factors in bfloat16, here and now."""
    asked = precision == "bfloat16" and torch.is_grad_enabled()
    return asked and weight.dtype == torch.float32 and _FAST


def multiply(
    inputs: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    *,
    relu: bool = False,
    precision: Precision = "float32",
) -> Tensor:
    """Inputs @ weight.T + bias, [n, outputs]; with `relu`, 0 where that is less.

    Outputs of factors in bfloat16 are in bfloat16, too, for the next product; the gradients of
    weights and bias are float32.
    """
    if rounds(precision, weight):
        return cast(Tensor, _Rounded.apply(inputs, weight, bias, relu))  # type: ignore[no-untyped-call]
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


class _Rounded(torch.autograd.Function):
    """As `_Linear`, of factors in bfloat16; the bias is added in float32."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, weight: Tensor, bias: Tensor | None, relu: bool
    ) -> Tensor:
        ctx.of = inputs.dtype
        inputs, weight = inputs.bfloat16(), weight.bfloat16()
        if _TAKES_BFLOAT16:
            outputs = _product(inputs, weight, bias, relu)
        else:  # the same numbers, slowly
            exact = functional.linear(inputs.float(), weight.float(), bias)
            outputs = (exact.relu_() if relu else exact).bfloat16()
        ctx.save_for_backward(inputs, weight, *([outputs] if relu else []))
        ctx.biased = bias is not None
        return outputs

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor, Tensor | None, None]:
        inputs, weight, *cut = ctx.saved_tensors
        for outputs in cut:
            gradient = torch.ops.aten.threshold_backward(gradient, outputs, 0)
        of_inputs = (gradient @ weight).to(ctx.of) if ctx.needs_input_grad[0] else None
        of_weight = (gradient.t() @ inputs).float()
        return of_inputs, of_weight, gradient.sum(0).float() if ctx.biased else None, None


def _product(left: Tensor, right: Tensor, bias: Tensor | None = None, relu: bool = False) -> Tensor:
    """The rows of left times the rows of right, and a bias, [n, m]."""
    operation = torch.ops.mkldnn._linear_pointwise
    return cast(Tensor, operation(left, right, bias, "relu" if relu else "none", [], ""))


def _works(kind: torch.dtype) -> bool:
    """Whether this torch has the operation, and it takes what it is given here."""
    try:
        found = _product(torch.ones(2, 3, dtype=kind), torch.ones(4, 3, dtype=kind), torch.ones(4))
    except (AttributeError, RuntimeError, TypeError):
        return False
    return torch.equal(found, torch.full((2, 4), 4.0, dtype=kind))


def _has_instructions() -> bool:
    """Whether this processor multiplies matrices in bfloat16 by instructions of their own."""
    try:
        return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
    except AttributeError:  # another torch: nobody knows
        return False


_AVAILABLE = _works(torch.float32)
_TAKES_BFLOAT16 = _works(torch.bfloat16)
_FAST = _TAKES_BFLOAT16 and _has_instructions()
