"""A first layer for observations that are facts: the sum of the table rows of those that hold.

    network = fact_network(envs.single_observation_space, envs.single_action_space, seed=0)

Comes in: for each sample the numbers of its facts, int32 [n, most], a negative number behind the
last. Goes out: features [n, width], or logits and values. It is a one-hot matrix times a table, at
the cost of the few rows that it picks. Does not know: what the facts mean.

The loops are numba's (`sparse_kernels`), imported when a layer is made.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from torch import Tensor, nn

from backplay.errors import BackplayError, ensure, show
from backplay.extras import require
from backplay.learners.encoders import linear
from backplay.products import LEAST, PRECISIONS, Precision, multiply, rounds

BETAS = (0.9, 0.999)  # torch's own for Adam
SHARE, BLOCK = 12, 32  # who has more than a 12th of the samples is common; columns come in blocks


class FactSum(nn.Module):
    """The sum of the rows of the facts that hold, and a bias.

    The gradient of the table is added to `table.grad` in place, where any optimiser finds it; which
    rows it is in, `marks` tells. `torch.autograd.grad` does not see it.
    """

    def __init__(self, facts: int, width: int, *, typical: int, generator: torch.Generator) -> None:
        """A table of random rows.

        Args:
            facts: how many there are.
            width: features that come out.
            typical: how many facts hold at a time; with so many the features have deviation 1.
            generator: draws the rows.
        """
        super().__init__()
        _kernels()  # who lacks numba hears of it here
        rows = torch.randn(facts, width, generator=generator) / sqrt(typical)
        self.table = nn.Parameter(rows)
        self.bias = nn.Parameter(torch.zeros(width))
        self.marks = np.zeros(facts, np.int32)
        """1 for the rows that have had a gradient since somebody cleared it."""

    def forward(self, facts: Tensor) -> Tensor:
        """Features [n, width] of facts [n, most]."""
        if not torch.is_grad_enabled():
            return _summed(self.table, self.bias, facts)
        return _Sum.apply(self.table, self.bias, facts, self)  # type: ignore[no-any-return, no-untyped-call]

    def cut_off(self, facts: Tensor) -> Tensor:
        """Features [n, width] in bfloat16, 0 where the sum is less: what a product takes."""
        return _CutSum.apply(self.table, self.bias, facts, self)  # type: ignore[no-any-return, no-untyped-call]


class _Sum(torch.autograd.Function):
    """bias + the sum of the rows of the table, [n, width]."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, bias: Tensor, facts: Tensor, layer: FactSum) -> Tensor:
        ctx.facts, ctx.layer = facts, layer
        return _summed(table, bias, facts)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        gradient, layer = gradient.contiguous(), ctx.layer
        if layer.table.requires_grad:
            into = _gradient(layer)
            starts, samples = _inverted(_array(ctx.facts), len(into))
            _kernels().add_gradients(starts, samples, _array(gradient), _array(into), layer.marks)
        return None, gradient.sum(0), None, None


class _CutSum(torch.autograd.Function):
    """As `_Sum`, and what is negative cut off; features and their gradient are in bfloat16.

    In a large batch the rows of facts that many samples have are summed by a product with a one-hot
    matrix; what is rounded there are these rows, their sum, and its gradient.
    """

    @staticmethod
    def forward(ctx: Any, table: Tensor, bias: Tensor, facts: Tensor, layer: FactSum) -> Tensor:
        rest, common, held = _parted(_array(facts), len(table))
        ctx.rest, ctx.common, ctx.layer = rest, common, layer
        if len(common):
            rows = table.new_zeros(held.shape[1], table.shape[1], dtype=torch.bfloat16)
            rows[: len(common)] = table.index_select(0, common)
            out = held @ rows
        else:
            out = torch.zeros(len(facts), table.shape[1], dtype=torch.bfloat16)
        _kernels().add_rows_cut(_array(table), _array(bias), rest, _words(out))
        ctx.save_for_backward(out, held)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (out, held), layer = ctx.saved_tensors, ctx.layer
        left, of_bias = torch.empty_like(out), torch.empty(out.shape[1])
        _kernels().cut_gradient(
            _words(gradient.contiguous()), _words(out), _words(left), _array(of_bias)
        )
        if layer.table.requires_grad:
            into = _gradient(layer)
            if len(ctx.common):
                of_common = (held.t() @ left)[: len(ctx.common)]
                into.index_add_(0, ctx.common, of_common.float())
                layer.marks[ctx.common.numpy()] = 1
            starts, samples = _inverted(ctx.rest, len(into))
            _kernels().add_half_gradients(starts, samples, _words(left), _array(into), layer.marks)
        return None, of_bias, None, None


def _parted(facts: NDArray[np.int32], number: int) -> tuple[NDArray[np.int32], Tensor, Tensor]:
    """The facts of each sample that few have; which many have, and whether it has those.

    The last are ones and zeros in bfloat16 [n, more than there are]; columns that belong to no fact
    say nothing.
    """
    common = np.empty(0, np.int64)
    if len(facts) >= LEAST:
        counts = np.zeros(number, np.int32)
        _kernels().count(facts, counts)
        common = np.flatnonzero(counts * SHARE > len(facts))
    if not len(common):
        return facts, torch.empty(0, dtype=torch.int64), torch.empty(0, 0)
    columns = np.full(number, len(common), np.int32)
    columns[common] = np.arange(len(common))
    held = torch.zeros(len(facts), (len(common) // BLOCK + 1) * BLOCK, dtype=torch.bfloat16)
    rest = np.empty_like(facts)
    _kernels().part(facts, columns, len(common), rest, _words(held))
    return rest, torch.from_numpy(common), held


def _inverted(facts: NDArray[np.int32], number: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Which samples have each fact: where they start, and their numbers."""
    starts, samples = np.empty(number + 1, np.int32), np.empty(facts.size, np.int32)
    _kernels().invert(facts, np.empty(number, np.int32), starts, samples)
    return starts, samples


def _gradient(layer: FactSum) -> Tensor:
    """The gradient of a layer's table, zeros if there is none yet."""
    if layer.table.grad is None:
        layer.table.grad = torch.zeros_like(layer.table)
    return layer.table.grad


def _summed(table: Tensor, bias: Tensor, facts: Tensor) -> Tensor:
    out = torch.empty(len(facts), table.shape[1], dtype=table.dtype)
    _kernels().add_rows(_array(table), _array(bias), _array(facts), out.numpy())
    return out


class TableAdam:
    """Adam on one table: the same steps as on all of its rows, by the rows that matter."""

    def __init__(self, layer: FactSum, *, eps: float) -> None:
        self.layer = layer
        table = layer.table
        self.gradient = table.grad = torch.zeros_like(table)
        self._mean, self._square = torch.zeros_like(table), torch.zeros_like(table)
        self._known = np.zeros(len(table), np.bool_)
        kind = _array(table).dtype.type
        self._eps, self._betas = kind(eps), np.array(BETAS, kind)

    def squared_norm(self) -> float:
        """Of the gradient, in float64."""
        norm: float = _kernels().squared_norm(_array(self.gradient), self.layer.marks)
        return norm

    def step(self, number: int, *, scale: float, learning_rate: float) -> None:
        """Descends by the gradient times `scale`, and clears it; `number` counts from 1."""
        first, second = (1 - beta**number for beta in BETAS)
        kind = self._eps.dtype.type
        _kernels().descend(
            _array(self.layer.table), _array(self.gradient), _array(self._mean),
            _array(self._square), self.layer.marks, self._known, kind(scale),
            kind(learning_rate / first), kind(sqrt(second)), self._betas, self._eps,
        )  # fmt: skip

    def state(self) -> dict[str, Tensor]:
        """A copy of its moments."""
        return {"exp_avg": self._mean.clone(), "exp_avg_sq": self._square.clone()}

    def load_state(self, state: dict[str, Any]) -> None:
        """Continues from `state()`."""
        self._mean.copy_(state["exp_avg"])
        self._square.copy_(state["exp_avg_sq"])
        self._known = ((self._mean != 0) | (self._square != 0)).any(1).numpy()
        self.gradient.zero_()
        self.layer.marks[:] = 0


class FactNetwork(nn.Module):
    """A sum of rows, linear layers, two heads; ReLU after each layer."""

    def __init__(
        self,
        first: FactSum,
        hidden: Sequence[nn.Linear],
        heads: nn.Linear,
        *,
        bound: float | None = None,
        precision: Precision = "float32",
    ) -> None:
        """A network of these layers; with a `bound`, values are within it.

        With the precision "bfloat16" it learns by products of factors in it, where the processor is
        fast at them; weights, heads, and all of it while it plays, are float32 as ever.
        """
        super().__init__()
        ensure(precision in PRECISIONS, "precision", " or ".join(PRECISIONS), precision)
        self.first, self.heads, self.bound = first, heads, bound
        self.precision: Precision = precision
        self.hidden = nn.ModuleList(hidden)

    @staticmethod
    def compact(facts: Tensor) -> Tensor:
        """The columns [n, fewer] of facts [n, most] that hold any: less to shuffle."""
        return facts[:, : int((facts.amax(0) >= 0).sum()) if len(facts) else 0]

    def forward(self, facts: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, actions] and values [n] of facts [n, most]."""
        half = rounds(self.precision, self.heads.weight)
        features = self.first.cut_off(facts) if half else self.first(facts).relu_()
        for layer in self.hidden:
            assert isinstance(layer, nn.Linear)
            features = multiply(
                features, layer.weight, layer.bias, relu=True, precision=self.precision
            )
        both = multiply(features.to(self.heads.weight.dtype), self.heads.weight, self.heads.bias)
        return both[:, :-1], both[:, -1] if self.bound is None else within(both[:, -1], self.bound)


def within(values: Tensor, bound: float) -> Tensor:
    """Values squeezed between -bound and bound by a tanh, with the gradient of values that are not.

    With it a squared error moves them as the cross-entropy of a chance would: those near an end,
    as all are while nobody wins, do not get stuck there.
    """
    squeezed = (values.detach() / bound).tanh_().mul_(bound)
    if not torch.is_grad_enabled():
        return squeezed
    return values + (squeezed - values.detach())


def fact_network(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    *,
    seed: int,
    width: int = 256,
    hidden: Sequence[int] = (128, 128),
    typical: int = 64,
    gain: float = 0.125,
    policy_gain: float = 0.01,
    value_gain: float = 1.0,
    bound: float | None = None,
    precision: Precision = "float32",
) -> FactNetwork:
    """An actor-critic network for facts, with orthogonal layers behind the first.

    Args:
        observation_space: a box of the facts' numbers, `low` -1 and `high` the last of them.
        action_space: discrete.
        seed: of the initial weights.
        width: of the first layer.
        hidden: sizes of the layers behind it.
        typical: how many facts hold at a time.
        gain: deviation of the first layer's features at first; small, so that facts that were
            seldom met say little.
        policy_gain: gain of the policy head; small, so that training starts near uniform.
        value_gain: gain of the value head.
        bound: of values, by a tanh; where returns are known to be within it.
        precision: of products while it learns, see `products`.
    """
    if not isinstance(observation_space, spaces.Box) or observation_space.dtype != np.int32:
        raise BackplayError(
            "observation space", expected="a box of facts' numbers, int32",
            got=show(observation_space),
        )  # fmt: skip
    if not isinstance(action_space, spaces.Discrete):
        raise BackplayError("action space", expected="Discrete", got=show(action_space))
    generator = torch.Generator().manual_seed(seed)
    facts = int(observation_space.high.max()) + 1
    first = FactSum(facts, width, typical=round(typical / gain**2), generator=generator)
    sizes = [width, *hidden]
    layers = [linear(inputs, outputs, sqrt(2), generator) for inputs, outputs in pairwise(sizes)]
    policy = linear(sizes[-1], int(action_space.n), policy_gain, generator)
    value = linear(sizes[-1], 1, value_gain, generator)
    heads = nn.utils.skip_init(nn.Linear, sizes[-1], int(action_space.n) + 1)  # type: ignore[no-untyped-call]  # torch leaves it untyped
    with torch.no_grad():
        heads.weight.copy_(torch.cat([policy.weight, value.weight]))
        heads.bias.zero_()
    return FactNetwork(first, layers, heads, bound=bound, precision=precision)


def _kernels() -> Any:
    require("numba")
    return import_module("backplay.learners.sparse_kernels")


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().numpy()


def _words(tensor: Tensor) -> NDArray[np.uint16]:
    """The bits of numbers in bfloat16, which numpy does not know."""
    return tensor.detach().view(torch.uint16).numpy()
