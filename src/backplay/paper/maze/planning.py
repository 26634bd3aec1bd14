"""A network that plans: value iteration with a learned model, for mazes never seen.

    network = PlanningMazeNetwork(mazes.walls, mazes.goals, seed=0, planning=4)
    logits, values = network(observations)          # [n, 2]: maze, cell of the agent

A value iteration network (Tamar et al. 2016) whose weights are the same for all four directions: 14
numbers. It reads the paper's planes, all of them. What a wall, a passage and the goal are worth and
where an action leads is learned (`envs.maze.sweeps`); that an action leads to a cell nearby, and
rather ahead than elsewhere, is built in. It plays in mazes of any size, and looks farther ahead in
larger ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from backplay.envs.maze.sweeps import NUMBERS, kinds_of, plan, plan_gradient
from backplay.errors import whole

LIVELY = 20.0  # times as fast as others learns what kinds of cells are worth: a wall, far below 0
FLAT = 0.1  # worths of the five actions that differ by less than this are nearly alike


class PlanningMazeNetwork(nn.Module):
    """A function of (maze, cell) that knows a maze by planning in it."""

    def __init__(
        self,
        walls: NDArray[np.bool_],
        goals: NDArray[np.integer[Any]],
        *,
        seed: int,
        planning: int = 4,
    ) -> None:
        """A network for mazes with these walls [mazes, height, width] and goal cells [mazes].

        `planning` is how many sweeps it makes for each cell along the board's longer side. Its 14
        numbers begin alike whatever the seed.
        """
        super().__init__()
        whole("planning", planning, 1)
        mazes, self.height, self.width = walls.shape
        self.planning, self.sweeps = planning, planning * max(self.height, self.width)
        self.kinds = kinds_of(walls, np.asarray(goals, np.int64)).reshape(mazes, -1)
        # Nothing is worth anything at first. With worths drawn at random, or with a FLAT so small
        # that the first differences decide everything, chance says whether walls look better than
        # passages, and who begins so learns to go through walls (results/new-mazes.md).
        self.worth = nn.Parameter(torch.zeros(3))
        self.discount = nn.Parameter(torch.tensor(2.0))  # 0.88 of what comes next counts
        # At first a move leads ahead a little rather than elsewhere: who begins the other way round
        # learns to flee from what is worst, and finds no way.
        self.move = nn.Parameter(torch.tensor([1.0, 0.0, 0.0, 0.0]))
        self.rest = nn.Parameter(torch.tensor([1.0, 0.0]))
        self.policy = nn.Parameter(torch.tensor([1.0, 0.0]))  # how decided; how fond of Pass
        self.value = nn.Parameter(torch.tensor([1.0, 0.0]))
        self._known: tuple[bytes, Tensor, NDArray[np.bool_]] | None = None

    def model(self) -> Tensor:
        """The numbers of `sweeps`: the weights of an action's cells sum to 1."""
        move = self.move.softmax(0) * self.move.new_tensor([1, 1, 0.5, 1])  # two cells are aside
        rest = self.rest.softmax(0) * self.rest.new_tensor([1, 0.25])  # four are around
        return torch.cat([LIVELY * self.worth, self.discount.sigmoid().view(1), move, rest])

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, 5] and values [n] of observations (maze, cell) [n, 2]."""
        seen, row, model = observations.numpy(), self.width + 2, self.model()
        mazes, cells = seen[:, 0].astype(np.int64), seen[:, 1].astype(np.int64)
        worths, rows = self._worths(model, mazes)
        places = (cells // self.width + 1) * row + cells % self.width + 1
        at = torch.from_numpy(rows * worths.shape[1] + places)
        here, up, down, left, right = (
            worths.view(-1).index_select(0, at + step) for step in (0, -row, row, -1, 1)
        )
        around = up + down + left + right
        _, _, _, _, ahead, own, aside, behind, stay, beside = model.unbind()
        base = own * here + aside * around
        promises = [stay * here + beside * around]
        for front, back in ((up, down), (down, up), (left, right), (right, left)):
            promises.append(base + (ahead - aside) * front + (behind - aside) * back)
        apart = torch.stack(promises, 1)
        apart = apart - apart.mean(1, keepdim=True)
        # Far from the goal all are worth about the same: what counts is which is worth most.
        scaled = apart / (apart.square().mean(1, keepdim=True) + FLAT**2).sqrt()
        fond = torch.cat([self.policy[1:], self.policy.new_zeros(4)])
        return self.policy[0] * scaled + fond, self.value[0] * here + self.value[1]

    def _worths(self, model: Tensor, mazes: NDArray[np.int64]) -> tuple[Tensor, NDArray[np.int64]]:
        """Worths [k, padded] of the cells of some mazes, and the row of each maze asked for, [n].

        Without gradients, what was planned is kept until the model changes.
        """
        if torch.is_grad_enabled():
            which, rows = np.unique(mazes, return_inverse=True)
            return _Plan.apply(model, which, self), rows  # type: ignore[no-untyped-call]  # torch leaves `apply` untyped
        key = model.numpy().tobytes()
        if self._known is None or self._known[0] != key:
            empty = torch.empty(self.kinds.shape, dtype=model.dtype)
            self._known = key, empty, np.zeros(len(empty), np.bool_)
        _, worths, done = self._known
        which = np.unique(mazes[~done[mazes]])
        if len(which):
            worths[torch.from_numpy(which)] = _Plan.apply(model, which, self)  # type: ignore[no-untyped-call]
            done[which] = True
        return worths, mazes

    def on(self, walls: NDArray[np.bool_], goals: NDArray[np.integer[Any]]) -> PlanningMazeNetwork:
        """A network for other mazes, of any size, with a copy of this one's weights."""
        other = PlanningMazeNetwork(walls, goals, seed=0, planning=self.planning)
        other.to(self.worth.dtype).load_state_dict(self.state_dict())
        return other

    def forget(self) -> None:
        """Plans everything anew."""
        self._known = None


class _Plan(torch.autograd.Function):
    """Worths of all cells of some mazes after all sweeps, [k, padded]."""

    @staticmethod
    def forward(
        ctx: Any, model: Tensor, which: NDArray[np.int64], network: PlanningMazeNetwork
    ) -> Tensor:
        ctx.save_for_backward(model)
        ctx.which, ctx.network = which, network
        numbers, kinds = model.detach().numpy(), network.kinds
        worths = np.empty((len(which), kinds.shape[1]), numbers.dtype)
        room = np.empty((network.sweeps + 2, kinds.shape[1]), numbers.dtype)
        plan(kinds, which, numbers, network.height, network.width, room, worths)
        return torch.from_numpy(worths)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        numbers, network = ctx.saved_tensors[0].detach().numpy(), ctx.network
        room = np.empty((network.sweeps + 2, network.kinds.shape[1]), numbers.dtype)
        spare = np.zeros((3, room.shape[1] + 2 * (network.width + 2)), room.dtype)
        out = np.zeros(NUMBERS)
        plan_gradient(
            network.kinds, ctx.which, numbers, network.height, network.width, room,
            gradient.numpy().copy(), spare, out,
        )  # fmt: skip
        return torch.from_numpy(out).to(ctx.saved_tensors[0].dtype), None, None
