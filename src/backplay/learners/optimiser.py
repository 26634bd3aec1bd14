"""Adam over a network whose parameters are laid out as one vector.

PPO on small networks spends much of its time on per-tensor overhead. With all parameters and all
gradients views into one vector each, clearing, clipping and stepping are single operations, and so
is summing the gradients of several workers. The tables of sparse layers are stepped by row, apart.
"""

from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn

from backplay.learners.sparse import FactSum, TableAdam
from backplay.learners.workers import Alone, Workers


class FlatAdam:
    """Adam with gradient clipping; the network's trainable parameters become views of one vector.

    Do not move the network to another device or replace its parameters afterwards. Workers begin
    with the first one's weights and stay together: each step is by the sum of their gradients.
    """

    def __init__(self, network: nn.Module, *, eps: float, workers: Workers | None = None) -> None:
        self._workers: Workers = workers or Alone()
        layers = [part for part in network.modules() if isinstance(part, FactSum)]
        self._tables = [TableAdam(part, eps=eps) for part in layers if part.table.requires_grad]
        apart = {id(part.table) for part in layers}
        parameters = [p for p in network.parameters() if p.requires_grad and id(p) not in apart]
        weights = torch.cat([p.detach().reshape(-1) for p in parameters])
        _take_from_first(self._workers, weights)
        self._vector = nn.Parameter(weights)
        for each in self._tables:
            _take_from_first(self._workers, each.layer.table.data)
        self._gradient = torch.zeros_like(self._vector)
        self._vector.grad = self._gradient
        sizes = [p.numel() for p in parameters]
        views = zip(
            torch.split(self._vector.detach(), sizes),
            torch.split(self._gradient, sizes),
            strict=True,
        )
        for parameter, (values, gradients) in zip(parameters, views, strict=True):
            parameter.data = values.view_as(parameter)
            parameter.grad = gradients.view_as(parameter)
        self._adam = torch.optim.Adam([self._vector], eps=eps, fused=True)
        self._adam.state[self._vector] = {
            "step": torch.zeros(()),
            "exp_avg": torch.zeros_like(self._vector),
            "exp_avg_sq": torch.zeros_like(self._vector),
        }

    def step(
        self, loss: Tensor | None, *, learning_rate: float, max_gradient_norm: float
    ) -> Tensor:
        """Descend the sum of the workers' losses once; returns its gradient's norm before clipping.

        The loss of a worker that has none is None.
        """
        self._gradient.zero_()
        if loss is not None:
            loss.backward()  # type: ignore[no-untyped-call]  # torch leaves `backward` untyped
        self._workers.add(self._gradient)
        norm: Tensor = torch.linalg.vector_norm(self._gradient)
        if self._tables:
            norm = self._with_tables(norm)
        scale = (max_gradient_norm / (norm + 1e-6)).clamp_(max=1.0)
        if scale < 1.0:
            self._gradient.mul_(scale)
        self._adam.param_groups[0]["lr"] = learning_rate
        self._adam.step()
        if self._tables:
            number = int(self._adam.state[self._vector]["step"])
            for each in self._tables:
                each.step(number, scale=float(scale), learning_rate=learning_rate)
        return norm

    def _with_tables(self, norm: Tensor) -> Tensor:
        """The norm of the whole gradient, where `norm` is that of all but the tables'."""
        total = float(norm) ** 2
        for each in self._tables:
            self._workers.add(each.gradient)
            self._workers.add(torch.from_numpy(each.layer.marks))
            total += each.squared_norm()
        return norm.new_tensor(sqrt(total))

    def state(self) -> dict[str, Any]:
        """A copy of Adam's moments and step count."""
        state: dict[str, Any] = {
            key: part.clone() for key, part in self._adam.state[self._vector].items()
        }
        for number, each in enumerate(self._tables):
            state[f"table_{number}"] = each.state()
        return state

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from `state()`."""
        for key, part in self._adam.state[self._vector].items():
            part.copy_(state[key])
        for number, each in enumerate(self._tables):
            each.load_state(state[f"table_{number}"])


def _take_from_first(workers: Workers, weights: Tensor) -> None:
    """The first worker's weights, in place."""
    if workers.size > 1:
        if workers.rank:
            weights.zero_()
        workers.add(weights)
