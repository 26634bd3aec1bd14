"""The paper's Maze network, exactly, at a fraction of its arithmetic.

    network = FastMazeNetwork(mazes.walls, mazes.goals, seed=0)
    logits, values = network(observations)          # [n, 2]: maze, cell of the agent

The same function of the same parameters as `DenseMazeNetwork`, up to rounding, because most of that
one's arithmetic repeats itself:

- a minibatch holds few distinct observations: each is computed once;
- the agent is one cell, so within a maze only 3 x 3 cells of the first layer, 5 x 5 of the second
  and their share of the third depend on it;
- the first layer sees 3 x 3 cells, of which there are few kinds (`patterns.py`): the two
  convolutions become tables by kind, and sums of their rows (`network_kernels.py`);
- where no gradient is asked for, what was computed is kept until the weights change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from backplay.envs.maze.network import ACTIONS, MazeNetwork
from backplay.envs.maze.network_kernels import (
    CHANNELS,
    HIDDEN,
    WINDOW,
    distinct,
    second_layer,
    second_layer_backward,
    third_layer,
    third_layer_alone,
    third_layer_backward,
    with_agent,
    with_agent_backward,
)
from backplay.envs.maze.patterns import Patterns, find_patterns
from backplay.errors import BackplayError
from backplay.products import multiply

CHUNK = 4096  # states computed at once where no gradient is needed
_NEAR = np.mgrid[-3:4, -3:4].reshape(2, -1)  # cells around a new state that are computed with it
MAZES_KEPT = 2000  # of more mazes than these the layers without an agent are not kept
CALL = 160  # states whose computation takes as long as what every call takes beside it


class FastMazeNetwork(MazeNetwork):
    """The same function of (maze, cell) with its repeated arithmetic left out."""

    def __init__(
        self, walls: NDArray[np.bool_], goals: NDArray[np.integer[Any]], *, seed: int
    ) -> None:
        super().__init__(walls, goals, seed=seed)
        self._states = StateIndex(find_patterns(walls, goals))
        self._memory: Memory | None = None

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, 5] and values [n] of observations (maze, cell) [n, 2]."""
        if not torch.is_grad_enabled():
            return self._remembered(observations)
        self._memory = None  # who asks for gradients is about to change the weights
        rows, asked = self._states.find(observations)
        hidden = Third.apply(  # type: ignore[no-untyped-call]  # torch leaves `apply` untyped
            self._tables(), self.second.bias, self.third, self.third_bias, asked
        )
        logits, values = self.heads(hidden)
        return logits.index_select(0, rows), values.index_select(0, rows)

    def on(self, walls: NDArray[np.bool_], goals: NDArray[np.integer[Any]]) -> FastMazeNetwork:
        """A network for other mazes of the same size with a copy of this one's weights."""
        other = FastMazeNetwork(walls, goals, seed=0)
        other.to(self.third.dtype).load_state_dict(self.state_dict())
        return other

    def forget(self) -> None:
        """Computes everything anew; for who changes the weights where nobody notices."""
        self._memory = None

    def _load_from_state_dict(self, *args: Any) -> None:
        self._memory = None
        super()._load_from_state_dict(*args)

    def _tables(self) -> Tensor:
        """What the second layer gets from each kind of cell, and below, how an agent changes it.

        [kinds + pairs, 3, 3 * channels]
        """
        inputs, kind_of_pair = self._states.inputs, self._states.kind_of_pair
        kinds = self._states.patterns.num_kinds
        first = self.first.weight.flatten(1)
        seen = functional.relu(multiply(inputs.to(first.dtype), first, self.first.bias))
        alone = seen[:kinds]
        differences = seen[kinds:] - alone.index_select(0, kind_of_pair)
        # [out, in, 3, 3] -> [9 * out, in]; flipped, for a cell gives to where others take from
        second = self.second.weight.flip(2, 3).flatten(2).permute(2, 0, 1).reshape(-1, CHANNELS)
        return multiply(torch.cat([alone, differences]), second).view(-1, 3, 3 * CHANNELS)

    def _remembered(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """As `forward`, from what has been computed since the weights changed last."""
        with torch.inference_mode(False), torch.no_grad():  # one memory for either mode
            if self._memory is None or self._memory.is_stale():
                self._memory = Memory(self)
            return self._memory.look_up(observations)


class StateIndex:
    """Which states of the mazes a batch asks for."""

    def __init__(self, patterns: Patterns) -> None:
        self.patterns = patterns
        self.inputs = torch.from_numpy(patterns.inputs)
        self.kind_of_pair = torch.from_numpy(patterns.kind_of_pair)
        self._seen = np.full(patterns.num_mazes * patterns.cells, -1, np.int32)
        self._seen_mazes = np.full(patterns.num_mazes, -1, np.int32)

    def keys(self, observations: Tensor) -> NDArray[np.int64]:
        """A number for every state, ordered by cell: cell * mazes + maze, [n]."""
        seen = observations.numpy()
        maze, cell = seen[:, 0].astype(np.int64), seen[:, 1].astype(np.int64)
        mazes, cells = self.patterns.num_mazes, self.patterns.cells
        lowest, highest = (maze.min(), cell.min()), (maze.max(), cell.max())
        if min(lowest) < 0 or highest[0] >= mazes or highest[1] >= cells:
            raise BackplayError(
                "observations", expected=f"(maze below {mazes}, cell below {cells})",
                got=f"maze {lowest[0]} to {highest[0]}, cell {lowest[1]} to {highest[1]}",
            )  # fmt: skip
        return cell * mazes + maze

    def find(self, observations: Tensor) -> tuple[Tensor, Asked]:
        """Where each observation is among the distinct ones, [n]; and those."""
        keys = self.keys(observations)
        rows, found = np.empty(len(keys), np.int32), np.empty(len(keys), np.int64)
        count = distinct(keys, self._seen, rows, found)
        return torch.from_numpy(rows), self.asked(found[:count])

    def asked(self, keys: NDArray[np.int64], *, keep_all: bool = False) -> Asked:
        """The states of these keys, which are in order and distinct; of all mazes, or of theirs."""
        patterns = self.patterns
        agents, mazes = np.divmod(keys, patterns.num_mazes)
        if keep_all:
            return Asked(patterns.kinds, mazes.astype(np.int32), agents.astype(np.int32), patterns)
        slots, used = np.empty(len(keys), np.int32), np.empty(len(keys), np.int64)
        count = distinct(mazes, self._seen_mazes, slots, used)
        used = used[:count]
        kinds = patterns.kinds if count == patterns.num_mazes else patterns.kinds[used]
        return Asked(kinds, slots, agents.astype(np.int32), patterns)


class Asked:
    """Distinct states in the order of their cells, and the mazes they are in."""

    def __init__(
        self,
        kinds: NDArray[np.int32],
        slots: NDArray[np.int32],
        agents: NDArray[np.int32],
        patterns: Patterns,
    ) -> None:
        self.kinds = kinds
        """Kinds of the cells of the mazes in use, [slots, cells]."""
        self.slots = slots
        """Each state's maze, as a row of `kinds`, [states]."""
        self.agents = agents
        """Each state's cell, [states]."""
        self.pairs, self.width = patterns.pairs, patterns.width
        self.first = np.searchsorted(agents, np.arange(patterns.cells + 1)).astype(np.int32)
        """Cell p's states are first[p] to first[p + 1] - 1."""

    def __len__(self) -> int:
        return len(self.agents)


class Third(torch.autograd.Function):
    """The third layer before its ReLU, [states, 128], from the tables of the second."""

    @staticmethod
    def forward(
        ctx: Any,
        tables: Tensor,
        second_bias: Tensor,
        third: Tensor,
        third_bias: Tensor,
        asked: Asked,
    ) -> Tensor:
        alone = _without_agent(asked.kinds, asked, tables, second_bias, third, third_bias)
        hidden, differences, on = _with_agent(alone, tables, third, asked)
        ctx.save_for_backward(third, alone.before, differences)
        ctx.asked, ctx.rows, ctx.on, ctx.was = asked, len(tables), on, alone.on
        return hidden

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        third, before, differences = ctx.saved_tensors
        asked: Asked = ctx.asked
        gradient = gradient.contiguous()
        slots = torch.from_numpy(asked.slots)
        by_maze = gradient.new_zeros(before.shape[1], HIDDEN).index_add_(0, slots, gradient)
        to_third, to_before = torch.empty_like(third), torch.zeros_like(before)
        to_moved = gradient.new_zeros(len(asked), WINDOW, CHANNELS)
        third_layer_backward(
            asked.first, asked.slots, _array(before), _array(differences), ctx.on, ctx.was,
            _weights(third), _array(gradient), _array(by_maze), _weights(to_third),
            _array(to_moved), _array(to_before),
        )  # fmt: skip
        to_tables = gradient.new_zeros(ctx.rows, 3, 3 * CHANNELS)
        kinds = len(asked.pairs)
        second_layer_backward(asked.kinds, _array(to_before), _array(to_tables[:kinds]))
        with_agent_backward(
            asked.slots, asked.agents, asked.kinds, asked.pairs,
            _array(to_moved.view(-1, 5, 5 * CHANNELS)), asked.width, _array(to_tables[kinds:]),
        )  # fmt: skip
        return to_tables, to_before.view(-1, CHANNELS).sum(0), to_third, by_maze.sum(0), None


class Memory:
    """What a network has computed since its weights changed last.

    Of many mazes only what was asked for is kept, not the mazes: they would fill the memory.
    """

    def __init__(self, network: FastMazeNetwork) -> None:
        self._parameters = list(network.parameters())
        self._versions = [parameter._version for parameter in self._parameters]
        self._network, self._states = network, network._states
        self._tables = network._tables()
        patterns = network._states.patterns
        size = patterns.num_mazes * patterns.cells
        free = patterns.pairs[patterns.kinds.T, 4] >= 0  # [cells, mazes]: where agents can stand
        self._known = ~free.ravel()
        self._table = self._tables.new_empty(size, ACTIONS + 1)
        self._calls = 0  # in which some state was new
        self._alone: Alone | None = None
        if patterns.num_mazes <= MAZES_KEPT:
            self._alone = self._without_agent(patterns.kinds)

    def is_stale(self) -> bool:
        """Whether the weights have changed."""
        return [parameter._version for parameter in self._parameters] != self._versions

    def look_up(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits [n, 5] and values [n]."""
        keys = self._states.keys(observations)
        new = keys[~self._known[keys]]
        if len(new):
            self._calls += 1
            new = np.unique(new if self._alone is None else self._with_more(new))
            for i in range(0, len(new), CHUNK):
                self._compute(new[i : i + CHUNK])
        rows = self._table.index_select(0, torch.from_numpy(keys))
        return rows[:, :ACTIONS], rows[:, ACTIONS]

    def _with_more(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """The states near these that are not known yet: agents come there soon.

        Once calls have taken as long as all other states would, those: who asks so often will ask
        on, and then nothing is new any more.
        """
        if self._calls % 16 == 0:
            others: NDArray[np.int64] = np.flatnonzero(~self._known)
            if len(others) <= self._calls * CALL:
                return others
        mazes, width = self._states.patterns.num_mazes, self._states.patterns.width
        cells, maze = np.divmod(keys, mazes)
        y, x = np.divmod(cells[:, None], width)
        y, x = y + _NEAR[0], x + _NEAR[1]
        inside = (y >= 0) & (y * width < self._states.patterns.cells) & (x >= 0) & (x < width)
        near = ((y * width + x) * mazes + maze[:, None])[inside]
        unknown: NDArray[np.int64] = near[~self._known[near]]
        return unknown

    def _compute(self, keys: NDArray[np.int64]) -> None:
        asked = self._states.asked(keys, keep_all=self._alone is not None)
        alone = self._alone or self._without_agent(asked.kinds)
        hidden, _, _ = _with_agent(alone, self._tables, self._network.third, asked)
        logits, values = self._network.heads(hidden)
        self._table[torch.from_numpy(keys)] = torch.cat([logits, values[:, None]], 1)
        self._known[keys] = True

    def _without_agent(self, kinds: NDArray[np.int32]) -> Alone:
        network, patterns = self._network, self._states.patterns
        return _without_agent(
            kinds, patterns, self._tables, network.second.bias, network.third, network.third_bias
        )


class Alone(NamedTuple):
    """Mazes without an agent."""

    before: Tensor
    """The second layer before its ReLU, [height, mazes, width, channels]."""
    on: NDArray[np.int64]
    """Which channels of it are above 0, a bit for each, [height, mazes, width]."""
    hidden: Tensor
    """The third layer before its ReLU, [mazes, 128]."""


def _without_agent(
    kinds: NDArray[np.int32],
    shape: Patterns | Asked,
    tables: Tensor,
    second_bias: Tensor | None,
    third: Tensor,
    third_bias: Tensor,
) -> Alone:
    assert second_bias is not None
    mazes, cells = kinds.shape
    size = (cells // shape.width, mazes, shape.width)
    before, on = tables.new_empty(*size, CHANNELS), np.empty(size, np.int64)
    parts = _array(tables[: len(shape.pairs)])
    second_layer(kinds, parts, _array(second_bias), _array(before), on)
    hidden = third_bias.detach().repeat(mazes, 1)
    third_layer_alone(_array(before), on, _weights(third), _array(hidden))
    return Alone(before, on, hidden)


def _with_agent(
    alone: Alone, tables: Tensor, third: Tensor, asked: Asked
) -> tuple[Tensor, Tensor, NDArray[np.int64]]:
    """The third layer with agents before its ReLU, [states, 128], and the second around them.

    How it differs there from the same maze without an agent, [25, states, channels], and which
    channels are on, [25, states].
    """
    n, changes = len(asked), tables[len(asked.pairs) :]
    room = tables.new_zeros(WINDOW, CHANNELS)
    differences, on = tables.new_empty(WINDOW, n, CHANNELS), np.empty((WINDOW, n), np.int64)
    with_agent(
        asked.slots, asked.agents, asked.kinds, asked.pairs, _array(changes),
        _array(alone.before), alone.on, _array(room), _array(differences), on,
    )  # fmt: skip
    hidden = alone.hidden.index_select(0, torch.from_numpy(asked.slots))
    third_layer(
        asked.first, asked.slots, _array(differences), on, alone.on, _weights(third),
        _array(hidden),
    )  # fmt: skip
    return hidden, differences, on


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.detach().numpy()


def _weights(third: Tensor) -> NDArray[Any]:
    """The third layer's weights by cell, [cells, channels, HIDDEN]."""
    return _array(third.view(-1, CHANNELS, HIDDEN))
