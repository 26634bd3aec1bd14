"""The fast Maze network is the dense one: outputs, every gradient, and what it remembers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from backplay.envs.maze import fast_network
from backplay.envs.maze.fast_network import FastMazeNetwork
from backplay.envs.maze.network import DenseMazeNetwork
from backplay.errors import BackplayError
from backplay.learners.optimiser import FlatAdam

Mazes = tuple[NDArray[np.bool_], NDArray[np.int64]]


def random_mazes(n: int, height: int, width: int, walls: int, seed: int = 0) -> Mazes:
    rng = np.random.default_rng(seed)
    cells = np.argsort(rng.random((n, height * width)), axis=1)
    grid = np.zeros((n, height * width), bool)
    np.put_along_axis(grid, cells[:, :walls], True, axis=1)
    return grid.reshape(n, height, width), cells[:, walls]


def pair(
    mazes: Mazes, dtype: torch.dtype = torch.float64
) -> tuple[DenseMazeNetwork, FastMazeNetwork]:
    """A dense and a fast network with the same weights, none of them zero."""
    dense = DenseMazeNetwork(*mazes, seed=3).to(dtype)
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in dense.parameters():
            noise = torch.randn(parameter.shape, generator=generator, dtype=dtype)
            parameter.add_(0.05 * noise)
    fast = FastMazeNetwork(*mazes, seed=5).to(dtype)
    fast.load_state_dict(dense.state_dict())
    return dense, fast


def free_states(mazes: Mazes, n: int, seed: int = 0) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    maze, cell = np.nonzero(~mazes[0].reshape(len(mazes[0]), -1))
    chosen = rng.integers(len(maze), size=n)
    return torch.from_numpy(np.stack([maze[chosen], cell[chosen]], 1).astype(np.int32))


def compare(dense: DenseMazeNetwork, fast: FastMazeNetwork, observations: torch.Tensor) -> None:
    """Outputs and the gradients of a loss that weighs every output differently."""
    results = []
    for network in (dense, fast):
        network.zero_grad()
        logits, values = network(observations)
        weights = torch.linspace(-1, 2, logits.numel(), dtype=logits.dtype).view_as(logits)
        loss = (logits.log_softmax(-1) * weights).sum() + (values * weights[:, 0]).square().sum()
        loss.backward()
        results.append((logits, values, {k: p.grad for k, p in network.named_parameters()}))
    (logits, values, gradients), (fast_logits, fast_values, fast_gradients) = results
    torch.testing.assert_close(fast_logits, logits, rtol=1e-11, atol=1e-11)
    torch.testing.assert_close(fast_values, values, rtol=1e-11, atol=1e-11)
    for name, gradient in gradients.items():
        assert gradient.abs().max() > 0, name
        difference = (fast_gradients[name] - gradient).norm() / gradient.norm()
        assert difference < 1e-11, name


def test_the_papers_mazes_with_many_duplicates() -> None:
    mazes = random_mazes(12, 24, 24, 120)
    dense, fast = pair(mazes)
    states = free_states(mazes, 150)
    again = np.random.default_rng(1).integers(len(states), size=400)
    compare(dense, fast, states[again])


@pytest.mark.parametrize(("height", "width"), [(5, 5), (6, 9), (3, 4), (1, 7), (2, 2)])
def test_boards_of_any_shape_with_agents_everywhere(height: int, width: int) -> None:
    """Every free cell of every maze: borders, corners, next to the goal, on it."""
    mazes = random_mazes(3, height, width, walls=height * width // 5)
    dense, fast = pair(mazes)
    maze, cell = np.nonzero(~mazes[0].reshape(3, -1))
    compare(dense, fast, torch.from_numpy(np.stack([maze, cell], 1)))


def test_a_single_state_and_a_maze_that_nobody_is_in() -> None:
    mazes = random_mazes(4, 8, 8, 12)
    dense, fast = pair(mazes)
    cell = int(np.flatnonzero(~mazes[0][2].ravel())[0])
    compare(dense, fast, torch.tensor([[2, cell]]))


def test_single_precision_agrees_up_to_rounding() -> None:
    mazes = random_mazes(5, 24, 24, 120)
    dense, fast = pair(mazes, torch.float32)
    states = free_states(mazes, 200)
    with torch.no_grad():
        for ours, theirs in zip(fast(states), dense(states), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_planes_and_compact_observations_are_the_same_to_the_dense_network() -> None:
    mazes = random_mazes(2, 6, 6, 8)
    dense, _ = pair(mazes)
    walls, goals = mazes
    (maze, cell), *_ = free_states(mazes, 1).tolist()
    agent = np.zeros(36)
    agent[cell] = 1
    goal = np.zeros(36)
    goal[goals[maze]] = 1
    wall = walls[maze].ravel().astype(float)
    passages = (1 - wall) * (1 - goal) * (1 - agent)
    planes = torch.tensor(np.stack([agent, goal, passages, wall])).view(1, 4, 6, 6)
    logits, values = dense.on_planes(planes)
    torch.testing.assert_close(dense(torch.tensor([[maze, cell]])), (logits, values))


@pytest.mark.parametrize("kept", [2000, 0])
def test_what_is_remembered_is_the_same(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether mazes are kept or not, in either mode, piece by piece."""
    monkeypatch.setattr(fast_network, "MAZES_KEPT", kept)
    monkeypatch.setattr(fast_network, "CHUNK", 7)
    mazes = random_mazes(4, 9, 9, 16)
    dense, fast = pair(mazes)
    for seed, mode in enumerate((torch.no_grad, torch.inference_mode, torch.no_grad)):
        states = free_states(mazes, 60, seed)
        with mode():
            for ours, theirs in zip(fast(states), dense(states), strict=True):
                torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11)


def test_who_asks_often_gets_all_states_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """About 4,050 states, 49 around each of those asked for; a call is worth 100 of them."""
    monkeypatch.setattr(fast_network, "CALL", 100)
    mazes = random_mazes(9, 24, 24, 120)
    dense, fast = pair(mazes)
    states = free_states(mazes, 200)
    known = []
    with torch.no_grad():
        for state in states:
            fast(state[None])
            known.append(float(fast._memory._known.mean()))
        for ours, theirs in zip(fast(states), dense(states), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11)
    assert known[14] < 0.6, "few calls compute what is asked for"
    assert known[-1] == 1.0


def test_what_is_remembered_is_forgotten_when_the_weights_change() -> None:
    mazes = random_mazes(3, 7, 7, 9)
    dense, fast = pair(mazes, torch.float32)
    states = free_states(mazes, 60)

    def agree() -> bool:
        dense.load_state_dict(fast.state_dict())
        with torch.no_grad():
            return all(
                torch.allclose(a, b, rtol=1e-3, atol=1e-4)
                for a, b in zip(fast(states), dense(states), strict=True)
            )

    def remembered() -> torch.Tensor:
        with torch.no_grad():
            return fast(states)[1].clone()

    assert agree()
    first = remembered()
    with torch.no_grad():
        fast.third.mul_(0.5)
    assert agree()
    assert not torch.equal(first, remembered())
    fast.load_state_dict({k: 2 * v for k, v in fast.state_dict().items()})
    assert agree()
    for make in (lambda: torch.optim.Adam(fast.parameters(), lr=0.05), None):
        optimiser = make() if make else FlatAdam(fast, eps=1e-5)
        before = remembered()
        loss = fast(states)[1].square().sum()
        if isinstance(optimiser, FlatAdam):
            optimiser.step(loss, learning_rate=0.05, max_gradient_norm=1.0)
        else:
            loss.backward()
            optimiser.step()
        assert agree()
        assert not torch.equal(before, remembered())


def test_other_mazes_with_the_same_weights() -> None:
    mazes, others = random_mazes(3, 7, 7, 9), random_mazes(5, 7, 7, 9, seed=9)
    _, fast = pair(mazes)
    moved = fast.on(*others)
    dense = DenseMazeNetwork(*others, seed=0).double()
    dense.load_state_dict(fast.state_dict())
    compare(dense, moved, free_states(others, 50))


def test_states_that_are_in_no_maze_are_refused() -> None:
    _, fast = pair(random_mazes(3, 7, 7, 9))
    for wrong in ([3, 0], [0, 49], [-1, 0], [0, -1]):
        with pytest.raises(BackplayError, match="observations"):
            fast(torch.tensor([wrong]))


def test_initial_weights_come_from_the_seed_alone() -> None:
    mazes = random_mazes(1, 5, 5, 4)
    one, same, other = (FastMazeNetwork(*mazes, seed=s) for s in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.third, other.third)
    # orthogonal: [outputs, inputs] times its transpose is gain squared times one
    torch.testing.assert_close(one.third.T @ one.third, 2 * torch.eye(128), atol=1e-4, rtol=0)
    torch.testing.assert_close(
        one.policy.weight @ one.policy.weight.T, torch.eye(5), atol=1e-5, rtol=0
    )
