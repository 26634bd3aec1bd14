"""A network that plans: its gradients, its symmetry, the plan of who knows the rules, learning."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from backplay.envs.maze.evaluate import play
from backplay.envs.maze.generate import generate, generate_set
from backplay.errors import BackplayError
from backplay.paper.maze import regimes as maze
from backplay.paper.maze.job import MazeJob
from backplay.paper.maze.planning import PlanningMazeNetwork
from resumption import assert_resumes_exactly

torch.set_num_threads(1)
SMALL = {"size": 7, "walls": 10, "min_length": 6}


def small(mazes: int, seed: int = 0) -> PlanningMazeNetwork:
    """A network to which cells are worth something: at 0 the best of equals has no gradient."""
    made = generate_set(mazes, 3, **SMALL)
    network = PlanningMazeNetwork(made.walls, made.goals, seed=seed, planning=2)
    with torch.no_grad():
        network.worth.normal_(0, 0.01, generator=torch.Generator().manual_seed(seed))
    return network


def everywhere(mazes: int, cells: int) -> torch.Tensor:
    both = np.meshgrid(np.arange(mazes), np.arange(cells), indexing="ij")
    return torch.from_numpy(np.stack(both, -1).reshape(-1, 2).astype(np.int32))


@pytest.mark.parametrize("seed", range(2))
def test_its_gradients_are_those_of_differences(seed: int) -> None:
    network = small(3, seed).double()
    places = everywhere(3, 49)
    weights = torch.randn(len(places), 6, generator=torch.Generator().manual_seed(seed)).double()

    def loss() -> torch.Tensor:
        logits, values = network(places)
        return (torch.cat([logits, values[:, None]], 1) * weights).sum()

    loss().backward()
    for parameter in network.parameters():
        flat, found = parameter.data.view(-1), parameter.grad.view(-1)
        for i in range(len(flat)):
            before, step = float(flat[i]), 1e-6
            flat[i] = before + step
            above = loss().item()
            flat[i] = before - step
            slope = (above - loss().item()) / (2 * step)
            flat[i] = before
            assert float(found[i]) == pytest.approx(slope, rel=1e-3, abs=1e-4)


def test_who_knows_the_rules_walks_shortest_paths() -> None:
    mazes = generate_set(50, 1)
    network = PlanningMazeNetwork(mazes.walls, mazes.goals, seed=0)
    with torch.no_grad():
        network.worth.copy_(torch.tensor([0.0, -0.1, 0.01]))  # the goal is good, walls are bad
        network.discount.fill_(3.0)
        network.move.copy_(torch.tensor([20.0, 0, 0, 0]))  # a move leads ahead
        network.rest.copy_(torch.tensor([20.0, 0]))
        played = play(mazes, lambda seen: network(torch.from_numpy(seen))[0].argmax(1).numpy())
    assert played.successes.all()
    assert not played.extra.any()


def test_what_is_kept_is_what_is_computed_and_goes_when_weights_change() -> None:
    network, places = small(3), everywhere(3, 49)
    for _ in range(2):
        with torch.no_grad():
            kept = network(places)
        for one, other in zip(kept, network(places), strict=True):
            assert torch.equal(one, other.detach())
        with torch.no_grad():
            network.worth.add_(0.5)


def test_its_seed_decides_nothing() -> None:
    mazes = generate_set(2, 3, **SMALL)
    first, second = (PlanningMazeNetwork(mazes.walls, mazes.goals, seed=seed) for seed in (0, 1))
    for name, part in first.state_dict().items():
        assert torch.equal(part, second.state_dict()[name])
    logits, _ = first(everywhere(2, 49))
    assert not logits.any()  # undecided


def test_its_policy_turns_with_the_maze() -> None:
    mazes = generate_set(5, 3, **SMALL)
    network = small(5)
    mirror = np.arange(49).reshape(7, 7)[:, ::-1].ravel()
    other = network.on(np.ascontiguousarray(mazes.walls[:, :, ::-1]), mirror[mazes.goals])
    places = everywhere(5, 49)
    images = torch.stack([places[:, 0], torch.from_numpy(mirror)[places[:, 1].long()].int()], 1)
    with torch.no_grad():
        logits, values = network(places)
        turned, same = other(images)
    assert torch.allclose(logits, turned[:, [0, 1, 2, 4, 3]], atol=1e-3)
    assert torch.allclose(values, same, atol=1e-5)
    assert logits.std() > 0.1


def test_what_it_learns_in_some_mazes_it_knows_in_others_and_in_larger_ones() -> None:
    library = generate(mazes=50, held_out=50, size=10, walls=20, min_length=10, seed=0)
    job = MazeJob(regime="uniform", frames=400_000, evaluations=1, planning=3)
    run = maze.training(job, library)
    list(run.run())
    network = run.learner.network
    assert isinstance(network, PlanningMazeNetwork)
    larger = generate_set(50, 0, size=16, walls=50, min_length=16)
    for others, enough in ((library.held_out, 0.9), (larger, 0.6)):
        fresh = PlanningMazeNetwork(others.walls, others.goals, seed=0)
        assert maze.measure(fresh, others)["greedy"]["success"] <= 0.2
        assert maze.measure(network, others)["greedy"]["success"] >= enough


@pytest.mark.parametrize(
    ("frames", "network"), [(30_000, {"planning": 2}), (100_000, {"sight": 3})]
)
def test_a_run_goes_on_as_if_it_had_not_stopped(frames: int, network: dict[str, int]) -> None:
    library = generate(mazes=4, held_out=2, seed=3, **SMALL)

    def fresh() -> maze.Training:
        run = MazeJob(regime="default", frames=frames, evaluations=3, **network)
        return maze.training(run, library)

    assert_resumes_exactly(fresh, stops=(1,))


def test_planning_is_refused_where_nobody_would_plan() -> None:
    for wrong in ({"regime": "gail"}, {"preset": "paper"}, {"sight": 5}):
        with pytest.raises(BackplayError, match="planning"):
            MazeJob(**{"regime": "backplay", "planning": 2, **wrong})
    with pytest.raises(BackplayError, match="planning"):
        PlanningMazeNetwork(
            np.zeros((1, 4, 4), np.bool_), np.zeros(1, np.int64), seed=0, planning=0
        )
    assert MazeJob(regime="default", planning=5).setting == "Optimal, planning 5"
